"""Doubles and factories that several test modules share."""
