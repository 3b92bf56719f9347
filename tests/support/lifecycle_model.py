"""What DESIGN 3 and LANGUAGE promise of a run, told from what happens to it.

Written apart from the planner and from ``verdict``, to be compared with them: it knows the
language and what happened, but no trigger rule, no gate and no state of Airflow's.
"""

from __future__ import annotations

from collections import Counter

from support.history import FAILURES, OUTCOME, is_hook

LOST = ("kill",)
"""The ends of an outcome whose process dies at every attempt."""


class LifecycleModel:
    """Follows one run of a workflow, part by part: each clearing of tasks begins another part.

    ``ends`` is how the last attempt of each step ended; steps that did not run are missing.
    """

    def __init__(self, workflow):
        self.workflow = workflow
        self.steps = {step.name: step for step in (*workflow.before_start, *workflow.steps)}
        self.waits_for = _waits_for(workflow)
        self.ends = {}

    def copy(self):
        other = LifecycleModel(self.workflow)
        other.ends = dict(self.ends)
        return other

    @property
    def is_completed(self):
        """Whether the main steps ended well.

        An unresolved step failed for good, or it did not run: because of another one, or although
        nothing kept it from running. Each of these is a failed run.
        """
        return all(self.is_resolved(name) for name in self.steps)

    def is_resolved(self, name):
        """Whether the steps below may run (LANGUAGE, "Dependency ended as")."""
        return name in self.ends and _is_resolved(self.steps[name], self.ends[name])

    def is_free(self, name):
        """Whether everything that a step waits for lets it run."""
        return all(self.is_resolved(above) for above in self.waits_for[name])

    def clear(self, name):
        """Let a step and all below it begin anew."""
        self.ends.pop(name, None)
        for below, above in self.waits_for.items():
            if name in above:
                self.clear(below)

    def run_steps(self, script):
        """Let the main steps run undisturbed; return the number of attempts of each."""
        attempts = Counter()
        if script.is_rejected:
            return attempts
        while free := [n for n in self.steps if n not in self.ends and self.is_free(n)]:
            for name in free:
                ends = _ends_of_attempts(self.steps[name], name, script)
                attempts[name] += len(ends)
                self.ends[name] = ends[-1] if ends else "if"
        return attempts

    def observe(self, event):
        """Take the end of a main step from what happened."""
        if event.task in self.steps:
            if event.what == "ended":
                self.ends[event.task] = event.how
            elif event.what == "marked":
                self.ends[event.task] = f"marked {event.how}"

    def colour(self, script):
        """Return the colour of a run whose main steps have ended, unless a user gives it one."""
        is_lost = script.ends.get(OUTCOME) == LOST
        return "success" if self.is_completed and not is_lost else "failed"

    def hooks(self, script):
        """Return the hooks that run once the main steps have ended, one entry per attempt."""
        if script.is_rejected:
            return []
        first = "on_success" if self.colour(script) == "success" else "on_failure"
        attempts = []
        for block in (first, "on_finish"):
            for step in self.workflow.hooks.block(block):
                task_id = f"{block}.{step.name}"
                ends = _ends_of_attempts(step, task_id, script)
                attempts += [task_id] * len(ends)
                if ends and not _is_resolved(step, ends[-1]):
                    break
        return attempts


def _waits_for(workflow):
    """Return what each step waits for itself, beyond what those before it wait for."""
    waits_for = {}
    guard = set()
    for step in workflow.before_start:
        waits_for[step.name] = guard
        guard = {step.name}
    above = set()
    for step in workflow.steps:
        waits_for[step.name] = {*step.depends_on, *above} or guard
        above = {step.name} if workflow.order == "listed" else set()
    return waits_for


def _is_resolved(step, end):
    if end == "stopped":  # by fail_fast: no key of the step is consulted
        return False
    return end in {"ok", "if", "skip", "marked success"} or step.continue_on_error


def _granted(step):
    return step.retry.max_attempts if step.retry else 1


def _ends_of_attempts(step, task_id, script):
    """Return how a step's attempts end; there are none if its ``if`` is false."""
    ends = []
    if step.condition == "false":
        return ends
    for attempt in range(1, _granted(step) + 1):
        ends.append(script.end(task_id, attempt))
        if ends[-1] not in FAILURES:
            break
    return ends


def differences(workflow, parts):
    """Return in words where a run differs from what is promised.

    :param parts: (script, history, colour) until the run ended, and again until it ended after
        each clearing, with which a history but the first begins.
    """
    model = LifecycleModel(workflow)
    found = []
    for script, history, colour in parts:
        found += _differences_of_part(model, script, history, colour)
    return found


def _differences_of_part(model, script, history, colour):
    """Compare one part, and leave the model where the part ended.

    The main steps are foretold from the script alone. Only where users marked finished steps, it
    depends on the moment what follows: there the ends of the steps are taken from what happened.
    """
    workflow = model.workflow
    if history and history[0].what == "cleared":
        model.clear(history[0].task)
    foretold = model.copy()
    attempts = foretold.run_steps(script)
    is_marked = any(event.what == "marked" for event in history)
    cancelled = next((event for event in history if event.what == "run marked"), None)
    started = [event.task for event in history if event.what == "started"]

    found = _wrong_starts(model, history)
    judge = model if is_marked else foretold
    hooks, promised_colour = judge.hooks(script), judge.colour(script)
    if cancelled:
        hooks, promised_colour = _until(cancelled, hooks, history), cancelled.how
    elif not is_marked and (judge.is_completed or not workflow.fail_fast):
        steps = Counter(name for name in started if not is_hook(name))
        if steps != +attempts:
            found.append(f"attempts of steps: {dict(steps)}, promised: {dict(+attempts)}")
    ran = [name for name in started if is_hook(name)]
    if ran != hooks:
        found.append(f"hooks: {ran}, promised: {hooks}")
    if colour != promised_colour:
        found.append(f"colour: {colour}, promised: {promised_colour}")
    return found


def _wrong_starts(model, history):
    """Let the model follow what happened; return the starts that were not due."""
    found = []
    attempts = Counter()
    has_fatal_failure = False
    first_hook = None
    for event in history:
        name = event.task
        if event.what == "started" and is_hook(name):
            first_hook = first_hook or name
        elif event.what in {"started", "ended"} and name in model.steps and first_hook:
            found.append(f"{name} {event.what} after {first_hook} had started")
        if event.what == "started" and name in model.steps:
            attempts[name] += 1
            if model.ends.get(name) not in FAILURES and not model.is_free(name):
                found.append(f"{name} started although what it waits for is unresolved")
            if model.workflow.fail_fast and has_fatal_failure:
                found.append(f"{name} started after a fatal failure under fail_fast")
        model.observe(event)
        if event.what == "ended" and name in model.steps and not model.is_resolved(name):
            granted = _granted(model.steps[name])
            has_fatal_failure |= event.how not in FAILURES or attempts[name] >= granted
        elif event.what == "marked":
            has_fatal_failure = False
    return found


def _until(cancelled, hooks, history):
    """Return the hooks that ran up to the one during which the run was marked."""
    name = cancelled.task
    if name is None or not is_hook(name):
        return []
    before = history[: history.index(cancelled)]
    attempt = sum(event == ("started", name, None) for event in before)
    places = [place for place, hook in enumerate(hooks, start=1) if hook == name]
    return hooks[: places[attempt - 1]] if attempt <= len(places) else hooks
