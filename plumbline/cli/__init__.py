"""The program `plumbline`: the commands of this installation in one grammar."""
