"""`understudy doctor`: whether a machine can run Understudy, and what to do where it cannot."""

from understudy.cli.commands.doctor.check_up import command

__all__ = ["command"]
