"""What DESIGN 3 and LANGUAGE promise of a run, told from what happens to it.

Written apart from the planner and from ``verdict``, to be compared with them: it knows the
language and what happened, but no trigger rule, no gate and no state of Airflow's.
"""

from __future__ import annotations

from collections import Counter

from support.branch_model import BranchModel, ModelStep
from support.history import CHOICE, FAILURES, OUTCOME, is_hook

LOST = ("kill",)
"""The ends of an outcome whose process dies at every attempt."""


class LifecycleModel:
    """Follows one run of a workflow, part by part: each clearing of tasks begins another part.

    ``ends`` is how the last attempt of each step ended; steps that did not run, or that go on with
    another attempt, are missing.
    """

    def __init__(self, workflow):
        self.workflow = workflow
        self.steps = {step.name: step for step in (*workflow.before_start, *workflow.steps)}
        self.model_steps = _model_steps(workflow)
        self.ends = {}
        self.tries = {name: [] for name in self.steps}
        self.rearmed = set()

    def copy(self):
        other = LifecycleModel(self.workflow)
        other.ends = dict(self.ends)
        return other

    def branches(self):
        """Return what has become of the steps, which leaves out those that are due to run."""
        branches = BranchModel(self.model_steps)
        due = set()
        while ready := [
            name
            for name in self.steps
            if name not in {*branches.ends, *due}
            and (name in self.ends or branches.waits_for(name) <= branches.ends.keys())
        ]:
            # What has happened is a fact, and comes before what should become of the others.
            name = next((name for name in ready if name in self.ends), ready[0])
            if name in self.ends:
                branches.end(name, *_word_and_way(self.steps[name], self.ends[name]))
            elif branches.decide(name) == "runs":
                due.add(name)
        return branches, due

    @property
    def is_completed(self):
        """Whether the main steps ended well.

        A step that did not run although nothing kept it from running is a failed run too.
        """
        branches, _ = self.branches()
        return branches.ends.keys() == self.steps.keys() and branches.is_completed

    @property
    def has_fatal_failure(self):
        branches, _ = self.branches()
        return any(branches.effect(name) == "fatal" for name in branches.failed)

    def is_free(self, name):
        """Whether everything that a step waits for lets it run."""
        _, due = self.branches()
        return name in due

    def clear(self, name):
        """Let a step and all below it begin anew."""
        self.ends.pop(name, None)
        self.tries[name] = []
        branches = BranchModel(self.model_steps)
        for below in self.steps:
            if name in branches.waits_for(below):
                self.clear(below)

    def _clear_failures_below(self, name):
        """Let failed steps below a marked one begin anew, as Airflow does (AIRFLOW 22o)."""
        branches = BranchModel(self.model_steps)
        for below in self.steps:
            if name in branches.waits_for(below):
                if self.ends.get(below) in {*FAILURES, "marked failed", "stopped"}:
                    del self.ends[below]
                    self.tries[below] = []
                    self.rearmed.add(below)
                self._clear_failures_below(below)

    def run_steps(self, script):
        """Let the main steps run undisturbed; return the number of attempts of each."""
        attempts = Counter()
        if script.is_rejected:
            return attempts
        while due := self.branches()[1]:
            for name in due:
                ends = _ends_of_attempts(self.steps[name], name, script)
                attempts[name] += len(ends)
                self.ends[name] = ends[-1] if ends else "if"
        return attempts

    def observe(self, event):
        """Take the end of a main step from what happened."""
        name = event.task
        if name not in self.steps:
            return
        if event.what == "ended":
            self.tries[name].append(event.how)
            if _is_final(self.steps[name], self.tries[name]):
                self.ends[name] = event.how
        elif event.what == "marked":
            self._clear_failures_below(name)
            self.ends[name] = f"marked {event.how}"

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


def _model_steps(workflow):
    """Return the main steps in the model's words; first those of ``before_start``, in a row."""
    steps = []
    last = None
    for step in workflow.before_start:
        steps.append(ModelStep(step.name, after=last))
        last = step.name
    targets = {way for step in workflow.steps for way in (*_transitions(step), *_cases(step))}
    above = last
    for step in workflow.steps:
        is_first = not step.depends_on and step.name not in targets
        steps.append(
            ModelStep(
                step.name,
                step.depends_on,
                is_tolerant=step.continue_on_error,
                is_strict=step.on_dep_failure == "fail_run",
                transitions=_transitions(step),
                cases=_cases(step),
                after=above if workflow.order == "listed" or is_first else None,
            )
        )
        above = step.name if workflow.order == "listed" else last
    return steps


def _transitions(step):
    return tuple(rule.transition_to for rule in step.on_error if rule.transition_to)


def _cases(step):
    return tuple(case.to for case in step.switch)


def _word_and_way(step, end):
    """Return an end in the words of the model of branches, and where the step went."""
    if end.startswith(CHOICE):
        return "ok", end.removeprefix(CHOICE)
    if end == "fail":
        return "fail", next(iter(_transitions(step)), None)
    words = {"kill": "fail", "marked failed": "fail", "marked success": "ok"}
    return words.get(end, end), None


def _is_resolved(step, end):
    """Whether the hooks after one may run."""
    return end not in {*FAILURES, "marked failed"} or step.continue_on_error


def _is_final(step, ends):
    """Whether no attempt follows those that ended so (LANGUAGE, "Failure keys", row 6)."""
    granted = Counter()
    for end in ends:
        grantor = _grantor(step, end, granted)
        if grantor is None:
            return True
        granted[grantor] += 1
    return False


def _grantor(step, end, granted):
    """Return what grants the attempt after a failed one: a rule's number or ``retry``."""
    if end not in FAILURES:
        return None
    for number, rule in enumerate(step.on_error if end == "fail" else ()):
        if rule.retry is None:
            return None
        if granted[number] < rule.retry.max_attempts - 1:
            return number
    is_left = step.retry is not None and granted["retry"] < step.retry.max_attempts - 1
    return "retry" if is_left else None


def _ends_of_attempts(step, task_id, script):
    """Return how a step's attempts end; there are none if its ``if`` is false."""
    ends = []
    if step.condition == "false":
        return ends
    while not ends or not _is_final(step, ends):
        ends.append(script.end(task_id, len(ends) + 1))
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

    The main steps are foretold from the script alone. Only where users marked finished steps, or
    cleared some under ``fail_fast``, it depends on the moment what follows: there the ends of the
    steps are taken from what happened.
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
    # What fail_fast had kept from starting is not cleared with a step beside it.
    is_told = is_marked or (workflow.fail_fast and history[:1] and history[0].what == "cleared")
    judge = model if is_told else foretold
    hooks, promised_colour = judge.hooks(script), judge.colour(script)
    if cancelled:
        hooks, promised_colour = _until(cancelled, hooks, history), cancelled.how
    elif not is_told and (judge.is_completed or not workflow.fail_fast):
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
    has_fatal_failure = False
    first_hook = None
    for event in history:
        name = event.task
        if event.what == "started" and is_hook(name):
            first_hook = first_hook or name
        elif event.what in {"started", "ended"} and name in model.steps and first_hook:
            found.append(f"{name} {event.what} after {first_hook} had started")
        if event.what == "started" and name in model.steps:
            # What a mark has cleared asks the steps right above alone, as a list does not.
            is_first = not model.tries[name] and name not in model.rearmed
            if is_first and not model.is_free(name):
                found.append(f"{name} started although what it waits for is unresolved")
            if model.workflow.fail_fast and has_fatal_failure:
                found.append(f"{name} started after a fatal failure under fail_fast")
        model.observe(event)
        if event.what == "ended" and name in model.steps:
            has_fatal_failure |= model.has_fatal_failure
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
