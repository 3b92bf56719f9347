"""Every diagnostic code: what it means and how to mend it, for the docs and for users.

A code is never renamed and never used for something else.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodeEntry:
    """What the docs say about one code, as sentences with a full stop.

    :param meaning: what is wrong, and why it matters.
    :param cure: what to do.
    """

    code: str
    meaning: str
    cure: str


_ENTRIES = (
    CodeEntry(
        "action-not-allowed",
        "The action exists, but the platform team does not allow it here.",
        "Use another action, or ask for the option `[mantle] allowed_actions` to be widened.",
    ),
    CodeEntry(
        "condition-not-boolean",
        "A condition yields the same wrong type whatever it reads, so the step could never start.",
        "Compare the value with something, for example `size(inputs.items) > 0`.",
    ),
    CodeEntry(
        "conflicting-keys",
        "Two keys say the same thing, and one of them would be ignored.",
        "Keep the one that you mean.",
    ),
    CodeEntry(
        "control-character",
        "The text holds a character that may not stand in YAML.",
        "Remove it, or write it as an escape in a string in double quotes.",
    ),
    CodeEntry(
        "dependency-cycle",
        "Steps wait for each other in a circle, so that none of them could ever start."
        " Steps that an expression reads count as dependencies, and a recovery step or a case of"
        " `switch` waits for the step that may go to it.",
        "Take out one of the edges shown.",
    ),
    CodeEntry(
        "duplicate-artifact",
        "Two artifacts of the workflow have the same name.",
        "Rename one of them.",
    ),
    CodeEntry(
        "duplicate-dependency",
        "A step names the same dependency twice.",
        "Remove one of the entries.",
    ),
    CodeEntry(
        "duplicate-hook",
        "Two hooks of one block have the same name."
        " A hook may share its name with a main step or with a hook of another block.",
        "Rename one of them.",
    ),
    CodeEntry(
        "duplicate-key",
        "A mapping has the same key twice, and one of the values would be lost.",
        "Remove one of the two, or rename it.",
    ),
    CodeEntry(
        "duplicate-listener",
        "The workflow names the same listener twice, which would tell it everything twice.",
        "Remove one of the entries.",
    ),
    CodeEntry("duplicate-step", "Two steps have the same name.", "Rename one of them."),
    CodeEntry(
        "duplicate-variable",
        "Two names under `env` of a values file are the same once they are in upper case.",
        "Remove one of them.",
    ),
    CodeEntry(
        "duplicate-workflow",
        "Two files have the same workflow name, which would be one Dag id.",
        "Rename one of the workflows.",
    ),
    CodeEntry(
        "dynamic-reference",
        "An expression computes which step it reads, as in `steps[inputs.which]`."
        " Such a name adds no dependency, and the step waits for nothing else,"
        " so what it reads may not be there yet.",
        "Name the steps that it may read under `depends_on`.",
    ),
    CodeEntry(
        "empty-document",
        "The file holds nothing but blanks and comments.",
        "Write a workflow, or remove the file.",
    ),
    CodeEntry("empty-list", "A list that must have an entry has none.", "Add an entry."),
    CodeEntry(
        "empty-value",
        "A key stands without a value, or with an empty text where something must be named."
        " Only lists and mappings may be left empty, which is as good as leaving out the key.",
        "Give the key a value, or remove it.",
    ),
    CodeEntry(
        "exclusive-keys",
        "A mapping has two keys of which only one can be given.",
        "Remove one of them.",
    ),
    CodeEntry(
        "file-too-large",
        "The file has more bytes than the option `[mantle] max_file_bytes` allows to be read.",
        "Move large texts out of the workflow, for example into a script that it calls.",
    ),
    CodeEntry(
        "hook-key",
        "A hook, or a step of `before_start`, has a key that orders steps, chooses between them,"
        " or tolerates a failure."
        " They run one after the other in the order of the file.",
        "Put the steps in the right order, or call a child workflow.",
    ),
    CodeEntry(
        "hook-timeout",
        "A hook may use up all the time that the hooks share."
        " The hooks after it would then fail without having started.",
        "Give the hook less time than `hooks.timeout`.",
    ),
    CodeEntry(
        "include-cycle",
        "Files include each other in a circle, so that the value would never end.",
        "Take out one of the includes shown, or include a fragment that does not hold the include.",
    ),
    CodeEntry(
        "include-limit",
        "The included files are together larger than `[mantle] max_file_bytes` allows, more than"
        " 20 of them include one another in a row, or files are included more than 2,000 times.",
        "Include less, or ask for the option to be raised.",
    ),
    CodeEntry(
        "ineffective-key",
        "A key changes nothing, because another one is missing or decides first.",
        "Add the other key, or remove this one.",
    ),
    CodeEntry(
        "ineffective-policy",
        "A step says `on_dep_failure: cancel_branch`, but no failure above it can stay in its"
        " branch: a step that depends on the same one does not say it, or `continue_on_error`"
        " decides first.",
        "Say `cancel_branch` at every step that depends on the one that may fail, at any distance,"
        " or nowhere; `mantle plan` shows what each failure would do.",
    ),
    CodeEntry(
        "invalid-choice",
        "A key has a value that is not among those it can have.",
        "Take one of the values that the message lists.",
    ),
    CodeEntry(
        "invalid-cron",
        "A schedule is not a cron expression of five fields, or names a date that no year has.",
        "Write minute, hour, day of the month, month and day of the week,"
        " or one of the names such as `@daily`.",
    ),
    CodeEntry(
        "invalid-default",
        "The default or one of the allowed values of an input contradicts its type,"
        " or the default is not among the allowed values.",
        "Make them agree; put a text that looks like a number in quotes.",
    ),
    CodeEntry(
        "invalid-dotted-path",
        "A name of something in Python is not written as packages and names with dots between.",
        "Write for example `my_package.module.function`.",
    ),
    CodeEntry(
        "invalid-duration",
        "A duration is not written as Go writes durations, or is not positive.",
        "Write numbers with the units h, m, s, ms, us or ns, for example `1h30m` or `1.5s`.",
    ),
    CodeEntry("invalid-encoding", "The file is not UTF-8.", "Save it as UTF-8."),
    CodeEntry(
        "invalid-expression",
        "An expression is not valid CEL, or uses a name or function that does not exist."
        " The message points at the place inside the string.",
        "Mend the expression as the message says.",
    ),
    CodeEntry(
        "invalid-include",
        "An `!include` names something that may not be included: only YAML files below the"
        " folder of workflows can be, by a path from the file that includes them.",
        "Write such a path, and move a file from outside into the folder.",
    ),
    CodeEntry(
        "invalid-merge",
        "The merge key `<<` stands before something other than a mapping or a list of mappings.",
        "Name the anchor of a mapping.",
    ),
    CodeEntry(
        "invalid-name",
        "A name has characters that names cannot have.",
        "Use lower-case letters, digits and hyphens for workflows and steps,"
        " underscores instead of hyphens for inputs.",
    ),
    CodeEntry(
        "invalid-param",
        "A parameter has a value that its action cannot take."
        " Of an expression only the type is checked, and only where it is known beforehand.",
        "Give a value of the type that the message names.",
    ),
    CodeEntry(
        "invalid-scalar",
        "A number is not finite or has more than 64 bits, or a value is not what its tag says.",
        "Put the value in quotes if it is a text.",
    ),
    CodeEntry(
        "invalid-start-date",
        "A start date is not in ISO 8601.",
        "Write for example `2026-01-31` or `2026-01-31T08:00:00+01:00`.",
    ),
    CodeEntry(
        "invalid-timezone",
        "A time zone does not exist on this machine.",
        "Write a name of the IANA database, such as `Europe/Berlin`, with its capital letters.",
    ),
    CodeEntry(
        "invalid-transition",
        "A step would go back: recover with itself or with a step that has run before it, or"
        " choose such a step. A run of Airflow only goes forward.",
        "Name a step that runs for this alone; to try again use `retry`.",
    ),
    CodeEntry(
        "invalid-yaml",
        "The text is not YAML, so nothing further was checked.",
        "Look at the place shown, and at the line before it.",
    ),
    CodeEntry(
        "leading-zero",
        "A number begins with a zero. Older YAML read it as octal, YAML 1.2 reads it as decimal.",
        "Write `0o` before an octal number, and quotes around a text of digits.",
    ),
    CodeEntry(
        "listed-order",
        "With `order: listed` each step waits for the one above it,"
        " but this step waits for one that stands below, or goes to one that stands above.",
        "Move one of the steps, or leave out `order`.",
    ),
    CodeEntry(
        "misnamed-defaults",
        "A file has the form of `defaults.yaml`, but another name, so that nobody would read it.",
        "Rename it to `defaults.yaml`.",
    ),
    CodeEntry(
        "missing-credential",
        "The action needs an Airflow connection, and the step names none.",
        "Add the key `credential` with the id of a connection.",
    ),
    CodeEntry(
        "missing-default",
        "An input is required and has no default, but a schedule starts runs without inputs.",
        "Give the input a default.",
    ),
    CodeEntry(
        "missing-else",
        "A step with `switch` has no `else`, and fails when none of its cases holds.",
        "Add a last entry `else`, or say under `on_error` what is to happen then.",
    ),
    CodeEntry(
        "missing-environment",
        "The environment that is configured, or named with `--environment`, has no values file.",
        "Add the file, which may be empty, or name an environment that has one.",
    ),
    CodeEntry(
        "missing-include",
        "There is no such file to include, or the file has no such key.",
        "Correct the path or the keys after `#`.",
    ),
    CodeEntry("missing-key", "A mapping lacks a key that it must have.", "Add the key."),
    CodeEntry(
        "missing-param", "A step lacks a parameter that its action needs.", "Add the parameter."
    ),
    CodeEntry(
        "name-too-long",
        "A name is longer than Airflow can store as the id of a Dag or task.",
        "Shorten it.",
    ),
    CodeEntry(
        "non-string-key",
        "A key of a mapping is not a string, which JSON does not know.",
        "Put the key in quotes.",
    ),
    CodeEntry(
        "not-a-default",
        "A key of `defaults.yaml` belongs to one workflow or to one step, so that a default for"
        " it makes no sense.",
        "Write the key where it belongs; what several workflows have in common can be included.",
    ),
    CodeEntry(
        "not-yet-supported",
        "The key or value belongs to the language, and was checked,"
        " but this version cannot run it yet.",
        "Leave it out, or wait for the version that supports it.",
    ),
    CodeEntry(
        "operator-argument",
        "A parameter is an argument that every Airflow operator has, and that the step decides.",
        "Use the key that the message names.",
    ),
    CodeEntry(
        "out-of-range",
        "A number is smaller or larger than the key allows.",
        "Take a number in the range that the message names; for no limit, leave out the key.",
    ),
    CodeEntry(
        "out-of-scope",
        "A main step reads what is known only when all main steps have ended.",
        "Move the step into a hook block, or read something else.",
    ),
    CodeEntry(
        "policy-without-dependency",
        "A step says what a failed dependency means to it, but it depends on no other step. The"
        " key says nothing about the failure of the step itself.",
        "Put the key at the steps that depend on this one, or remove it.",
    ),
    CodeEntry(
        "recursive-alias",
        "An alias stands inside the value of its own anchor, which would have no end.",
        "Write the value out.",
    ),
    CodeEntry(
        "refused-operator",
        "An Airflow operator skips or starts other tasks by itself,"
        " which would pass by hooks and timeouts.",
        "Use the key or the action that the message names.",
    ),
    CodeEntry(
        "reserved-input", "An input has a name that the language fills itself.", "Rename the input."
    ),
    CodeEntry(
        "root-not-a-mapping",
        "The file holds a list or a single value instead of a workflow's keys.",
        "Begin the file with `name:` and `steps:`.",
    ),
    CodeEntry(
        "router-key",
        "A step with `switch` has a key that is about an action. It runs none, and its output is"
        " the name of the step that it has chosen.",
        "Give the key to the steps that it chooses between.",
    ),
    CodeEntry("self-dependency", "A step depends on itself.", "Remove the entry."),
    CodeEntry(
        "several-documents",
        "The file holds more than one YAML document.",
        "Split it into one file for each workflow.",
    ),
    CodeEntry(
        "several-timezones",
        "Cron triggers of one workflow are in different time zones,"
        " for which a Dag has no schedule.",
        "Make a workflow for each zone, or write all times in one of them.",
    ),
    CodeEntry(
        "step-not-before",
        "An expression reads a step, hook or artifact that cannot be there by then.",
        "Change the order, or read something that has run.",
    ),
    CodeEntry(
        "tab-indentation",
        "A line is indented with a tab, which YAML does not allow.",
        "Use spaces.",
    ),
    CodeEntry(
        "template-in-condition",
        "A condition is written in braces; it is bare CEL, as the value of `outputs.map` is.",
        "Leave out the braces.",
    ),
    CodeEntry(
        "template-not-allowed",
        "An expression in braces stands where the value is fixed when the file is read.",
        "Write the value out; expressions stand in the parameters of steps.",
    ),
    CodeEntry("too-deep", "Values are nested deeper than 100 levels.", "Flatten them."),
    CodeEntry(
        "too-many-aliases",
        "Aliases stand for more values than are read: at most 1,000 aliases,"
        " those inside of aliases counted each time.",
        "Write some of the values out.",
    ),
    CodeEntry(
        "undefined-artifact",
        "An expression reads an artifact that no step leaves behind.",
        "Mend the name, or add the artifact to a step.",
    ),
    CodeEntry(
        "undefined-field",
        "An expression reads a field that steps, hooks, artifacts, the execution or an error lack.",
        "Mend the name; what a step returns is below `output`.",
    ),
    CodeEntry(
        "undefined-hook",
        "An expression reads a hook that does not exist.",
        "Mend the name, or add the hook.",
    ),
    CodeEntry(
        "undefined-input",
        "An expression reads an input that is not declared."
        " Inside of `has()` and `default()` this is a warning.",
        "Mend the name, or declare the input.",
    ),
    CodeEntry(
        "undefined-step",
        "A name of a step is used that no step has.",
        "Mend the name, or add the step.",
    ),
    CodeEntry(
        "unguarded-reference",
        "An expression reads a field of the output of a step that may be skipped, may have failed,"
        " or may not have run; the step that reads would then fail itself."
        " Nothing is said when the expression, or the `if` of its step, also asks for the other"
        " step's `status`, `error` or whole `output`.",
        "Give a fallback with `default(...)`, or ask with `has(...)` first.",
    ),
    CodeEntry(
        "unknown-action",
        "The action does not exist.",
        "Mend the name; an expression cannot choose the action.",
    ),
    CodeEntry(
        "unknown-anchor",
        "An alias names an anchor that does not stand before it in the file.",
        "Mend the name, or define the anchor further up, for example under a key such as"
        " `x-common`.",
    ),
    CodeEntry(
        "unknown-key",
        "The language does not have this key here, so it would be ignored.",
        "Mend the name; for notes and anchors use a key that begins with `x-`.",
    ),
    CodeEntry(
        "unknown-operator",
        "The class that an `airflow/operator` step names cannot be imported, or is no operator.",
        "Correct the dotted path, or install the package on every machine"
        " that parses or runs Dags.",
    ),
    CodeEntry(
        "unknown-param",
        "The action does not have this parameter, so it would be ignored.",
        "Mend the name; keys of the step stand beside `params`, not in it.",
    ),
    CodeEntry(
        "unquoted-template",
        "A value begins with braces and without quotes, which YAML reads as a mapping.",
        "Put the whole value in quotes.",
    ),
    CodeEntry(
        "unreachable-case",
        "A case or rule stands after one that always holds, so that it is never asked.",
        "Move it up, or remove it.",
    ),
    CodeEntry(
        "unreadable-file",
        "The file is there, but the process that reads workflows may not read it.",
        "Give that process the permission.",
    ),
    CodeEntry(
        "unsupported-tag",
        "A value has a tag, such as `!vault` or `!!binary`; workflows hold plain JSON values.",
        "Remove the tag.",
    ),
    CodeEntry(
        "unused-credential",
        "The step names a connection that its action does not use.",
        "Remove the key, or give the connection as the parameter that the operator expects.",
    ),
    CodeEntry(
        "wrong-type",
        "A value has another type than its key takes."
        " In YAML 1.2 `yes`, `no`, `on` and `off` are texts, and what stands in quotes is a text.",
        "Write a value of the type that the message names.",
    ),
)

CATALOGUE: dict[str, CodeEntry] = {entry.code: entry for entry in _ENTRIES}
"""Every code of a diagnostic, in the order of the codes."""
