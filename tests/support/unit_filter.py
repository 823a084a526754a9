"""Runs a program behind the system-call filter of a systemd unit, as its manager would.

    unit_filter.py UNIT COMMAND…

Reads SystemCallFilter= of the unit, has systemd-analyze say what the groups hold, and applies
DynamicUser=, NoNewPrivileges=, RestrictNamespaces=, MemoryDenyWriteExecute= and LimitCORE= as
well. Exits with 99 if systemd-analyze or libseccomp is missing, or if nobody cannot reach the program.
"""

import ctypes
import ctypes.util
import os
import resource
import shutil
import subprocess
import sys

ALLOW = 0x7FFF0000
EPERM = 0x00050000 | 1
NAMESPACES = 0x7E020080 & ~0x80  # CLONE_NEW* but for CLONE_NEWTIME, which clone has no room for
MASKED_EQUAL = 7
WRITE_EXEC = 2 | 4
NOBODY = 65534


class Comparison(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64),
                ("b", ctypes.c_uint64)]


def members(name):
    if not name.startswith("@"):
        return {name}
    text = subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager", name], check=True,
                          capture_output=True, text=True).stdout
    found = set()
    for line in text.splitlines()[1:]:
        word = line.strip()
        if word and not word.startswith("#"):
            found |= members(word)
    return found


def allowed_calls(unit):
    """As systemd: the first list says what is allowed, lists behind ~ take away."""
    calls = set()
    for line in open(unit):
        if line.startswith("SystemCallFilter="):
            words = line.strip().split("=", 1)[1]
            sign, words = words[:1] == "~", words.lstrip("~")
            for word in words.split():
                calls = calls - members(word) if sign else calls | members(word)
    # What the manager itself needs to start the program.
    return calls | members("@default") | {"execve", "exit", "exit_group"}


def apply(library, calls):
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(EPERM))
    numbers = {name: library.seccomp_syscall_resolve_name(name.encode()) for name in calls}
    add = library.seccomp_rule_add_array
    for name, number in numbers.items():
        if number < 0:
            continue  # not of this machine
        if name == "clone":
            none = Comparison(0, MASKED_EQUAL, NAMESPACES, 0)
            assert add(context, ALLOW, number, 1, ctypes.byref(none)) == 0
        elif name in ("mprotect", "pkey_mprotect", "mmap"):
            for bits in (0, 2, 4):
                fine = Comparison(2, MASKED_EQUAL, WRITE_EXEC, bits)
                if name == "mmap" or bits != 4:
                    assert add(context, ALLOW, number, 1, ctypes.byref(fine)) == 0
        elif name not in ("unshare", "setns", "clone3"):
            assert add(context, ALLOW, number, 0, None) == 0
    clone3 = library.seccomp_syscall_resolve_name(b"clone3")
    add(context, 0x00050000 | 38, clone3, 0, None)  # ENOSYS, so that clone is tried
    assert library.seccomp_load(context) == 0


def main():
    unit, command = sys.argv[1], sys.argv[2:]
    name = ctypes.util.find_library("seccomp") or "libseccomp.so.2"
    if shutil.which("systemd-analyze") is None:
        sys.exit(99)
    try:
        library = ctypes.CDLL(name)
    except OSError:
        sys.exit(99)
    calls = allowed_calls(unit)
    if os.geteuid() == 0:  # DynamicUser=
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    if not os.access(command[0], os.X_OK) or not os.access(unit, os.R_OK):
        sys.exit(99)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    apply(library, calls)
    os.execvp(command[0], command)


main()
