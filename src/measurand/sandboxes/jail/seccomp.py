"""The system calls that no program in a jail may make, as a filter that the kernel runs before each call.

It forbids what neither a program nor a test needs and what has been the way out of many a jail: namespaces and
mounts, tracing, kernel modules, key rings, io_uring, handles of files, memory that no limit counts, and sockets
of other families than internet and Unix (AF_VSOCK, for one, is not bounded by a network namespace).
"""

from __future__ import annotations

import struct

_ERRNO = 0x00050000
_ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_X32 = 0x40000000
_NEW_NAMESPACES = 0x7E020000  # user, pid, net, ipc, uts, cgroup and mount
_FAMILIES = (1, 2, 10)  # Unix, IPv4 and IPv6

_SAME_EVERYWHERE = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "pidfd_getfd": 438,
    "mount_setattr": 442,
    "quotactl_fd": 443,
    "memfd_secret": 447,
}
_CLONE3 = 435

_DENIED = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "init_module": (175, 105),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "mbind": (237, 235),
    "memfd_create": (319, 279),
    "migrate_pages": (256, 238),
    "mount": (165, 40),
    "move_pages": (279, 239),
    "mq_open": (240, 180),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pivot_root": (155, 41),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "semget": (64, 190),
    "set_mempolicy": (238, 237),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "shmget": (29, 194),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vhangup": (153, 58),
}
"""By name: the numbers on x86_64 and on aarch64."""

_MACHINES = {"x86_64": (0xC000003E, 0, 56, 41), "aarch64": (0xC00000B7, 1, 220, 198)}
"""Audit architecture, place in the pairs above, and the numbers of clone and socket."""


def program(machine: str) -> bytes:
    """The filter for a machine as `uname` names it: an array of struct sock_filter. Raises KeyError for others.

    clone3 does not exist for the program, rather than being forbidden: its flags lie in memory where no filter
    sees them, and the C library falls back to clone only then.
    """
    architecture, which, clone, socket = _MACHINES[machine]
    denied = sorted([*(numbers[which] for numbers in _DENIED.values()), *_SAME_EVERYWHERE.values()])
    code = [_step(_LOAD, _ARCHITECTURE), _step(_EQUAL, architecture, 1, 0), _step(_RETURN, _KILL_PROCESS)]
    code += [_step(_LOAD, _NUMBER), *_when(_AT_LEAST, _X32, _EPERM), *_when(_EQUAL, _CLONE3, _ENOSYS)]
    for number in denied:
        code += _when(_EQUAL, number, _EPERM)
    code += [_step(_EQUAL, clone, 0, 4), _step(_LOAD, _FIRST_ARGUMENT), *_when(_ANY_BIT, _NEW_NAMESPACES, _EPERM)]
    code += [_step(_RETURN, _ALLOW)]
    code += [_step(_EQUAL, socket, 1, 0), _step(_RETURN, _ALLOW), _step(_LOAD, _FIRST_ARGUMENT)]
    code += [_step(_EQUAL, family, len(_FAMILIES) - place, 0) for place, family in enumerate(_FAMILIES)]
    code += [_step(_RETURN, _ERRNO | _EAFNOSUPPORT), _step(_RETURN, _ALLOW)]
    return b"".join(code)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _when(test: int, value: int, error: int) -> list[bytes]:
    return [_step(test, value, 0, 1), _step(_RETURN, _ERRNO | error)]
