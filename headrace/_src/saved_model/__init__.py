"""Models as folders: functions with their variables, tables and files."""
