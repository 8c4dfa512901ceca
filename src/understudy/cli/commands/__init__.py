"""The commands: one file each, named for the command and holding its `command`."""
