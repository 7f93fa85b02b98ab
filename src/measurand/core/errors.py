"""The exception tree. Every message is one sentence: what is wrong, where, and how to mend it.

MeasurandError                 anything we raise on purpose; the command line shows it and exits with 2
├── InputError                 a flag, a file, a name that cannot be used as given
│   ├── DataError              a data file, with its line
│   │   └── NotLicensedError   a data set that is given only to those who were let in
│   └── InvalidRecordError     a value that cannot become a record, or has no identity
├── UnaskableError             the subject cannot be asked as the protocol says
├── StoreError                 the database cannot be opened, read or written
├── SandboxError               no isolation, so nothing is executed
│   └── SandboxDeadError       isolation broke down while it was in use; nothing is known about who used it
├── ReportError                a result that may not be shown (its tally does not add up)
├── RunStoppedError            the run ended early: a circuit, a budget
└── CallError                  one call ended without a reply
    ├── CallFailedError        it broke (transient or not)
    └── CallBlockedError       a filter outside the subject stopped it
"""

from __future__ import annotations


class MeasurandError(Exception):
    """The root of every error that is raised on purpose."""


class InputError(MeasurandError):
    """Something given by the user cannot be used as it is."""


class DataError(InputError):
    """A data file cannot be used; the message names the file and, where there is one, the line."""


class NotLicensedError(DataError):
    """A data set is given only to those who accepted its terms, and this account is not among them."""


class InvalidRecordError(InputError):
    """A value cannot become a record, or has no stable identity."""


class UnaskableError(MeasurandError):
    """The subject cannot be asked as the protocol says; the message names the protocol that fits."""


class StoreError(MeasurandError):
    """The store cannot be opened, read or written."""


class SandboxError(MeasurandError):
    """No isolation is to be had, so nothing is executed."""


class SandboxDeadError(SandboxError):
    """A workspace answers no more; that is no failure of the model whose commands ran in it."""


class ReportError(MeasurandError):
    """A result may not be shown: its tally does not add up to the plan."""


class RunStoppedError(MeasurandError):
    """A run ended before its plan was done, and says why."""


class CallError(MeasurandError):
    """One call ended without a reply."""


class CallFailedError(CallError):
    """A call broke.

    `where` is the part that broke (network, provider, reply, budget…), `transient` says whether trying
    again can help, `retry_after` is the wait in seconds that the endpoint asked for, `limited` marks a
    rate limit, and `fatal` marks what no other call of this subject could survive (bad key, no such model).
    """

    def __init__(
        self,
        why: str,
        *,
        where: str = "provider",
        transient: bool = False,
        retry_after: float | None = None,
        limited: bool = False,
        fatal: bool = False,
    ) -> None:
        super().__init__(why)
        self.why = why
        self.where = where
        self.transient = transient
        self.retry_after = retry_after
        self.limited = limited
        self.fatal = fatal
        self.tries = 1


class CallBlockedError(CallError):
    """A filter outside the subject stopped the call; `by` names it."""

    def __init__(self, by: str) -> None:
        super().__init__(f"blocked by {by}")
        self.by = by
