# The warm interpreter: it imports what programs commonly use and then forks
# for each command, so that a command pays neither for the start of Python nor
# for those imports. The agent sends one packet for a command, with its three
# streams, and gets one packet when it has ended. Whoever runs in a fork of this
# process may do to it what it likes: it is ended with the sandbox's user, and
# what it reports is believed of that user's commands only.
import _signal
import atexit
import gc
import importlib.machinery
import io
import json
import os
import signal
import site
import socket
import sys
import threading
import types

# What is imported ahead costs every fork a little, so rare and large modules
# are not among them.
COMMON = """argparse base64 bisect collections contextlib copy csv dataclasses
datetime decimal enum functools glob hashlib heapq io itertools math operator
pathlib random re shutil statistics string struct subprocess tempfile textwrap
time traceback typing urllib.parse""".split()

LARGEST = 1 << 18
# Signals that a parent sends to all processes to have them end.
TO_ALL = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)


def serve(channel):
    """Serve the agent until it is gone."""
    while True:
        packet, files, _, _ = socket.recv_fds(channel, LARGEST, 3)
        if not packet:
            os._exit(0)
        request = json.loads(packet)["exec"]
        # A signal to all that comes while the command is being made must end
        # the command: it waits until the command would be ended by it.
        signal.pthread_sigmask(signal.SIG_BLOCK, TO_ALL)
        try:
            pid = os.fork()
        except OSError as e:
            ended = {"error": "the interpreter cannot fork: " + str(e), "code": 126}
        else:
            if pid == 0:
                channel.close()
                become(request, files)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, TO_ALL)
            ended = None
        for f in files:
            os.close(f)
        if ended is None:
            ended = end_of(pid)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, TO_ALL)
        channel.send(json.dumps({"kind": "exited", "exited": ended}).encode())


def end_of(pid):
    _, status, used = os.wait4(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    return {
        "code": code if code >= 0 else 128 - code,
        "signal": max(0, -code),
        "userUs": int(used.ru_utime * 1e6),
        "systemUs": int(used.ru_stime * 1e6),
        "maxRss": used.ru_maxrss << 10,
        "orphans": 0,
    }


def become(request, files):
    """Be the command, and end. It never returns."""
    code = 1
    try:
        os.setsid()
        for to, f in enumerate(files):
            os.dup2(f, to)
        for f in files:
            os.close(f)
        environment = dict(e.split("=", 1) for e in request.get("env") or [])
        if environment != os.environ:
            os.environ.clear()
            os.environ.update(environment)
        # The functions beneath those of signal, which make enumerations.
        for s in TO_ALL:
            _signal.signal(s, _signal.SIG_DFL)
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, TO_ALL)
        os.chdir(request["dir"])
        code = program(request["argv"])
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        finish(code)


def program(argv):
    """Run the program that argv names as python3 would, and give its exit code."""
    own = site.getusersitepackages() if site.ENABLE_USER_SITE else None
    if own and own not in sys.path and os.path.isdir(own):
        site.addsitedir(own)
    main = types.ModuleType("__main__")
    main.__builtins__ = sys.modules["builtins"]
    main.__annotations__ = {}
    sys.modules["__main__"] = main
    sys.orig_argv = list(argv)
    try:
        if argv[1] == "-c":
            sys.argv = ["-c"] + argv[3:]
            sys.path[0] = ""
            main.__loader__ = importlib.machinery.BuiltinImporter
            code = compile(argv[2], "<string>", "exec", dont_inherit=True)
        else:
            sys.argv = argv[1:]
            name = argv[1]
            sys.path[0] = os.path.dirname(os.path.realpath(name))
            if not os.path.isabs(name) and sys.version_info >= (3, 9):
                name = os.getcwd() + "/" + name
            main.__file__ = name
            main.__cached__ = None
            main.__loader__ = importlib.machinery.SourceFileLoader("__main__", name)
            with open(name, "rb") as f:
                source = f.read()
            code = compile(source, name, "exec", dont_inherit=True)
            del source, f, name
        del argv
        exec(code, main.__dict__)
        return 0
    except SystemExit as e:
        return asked(e.code)
    except BaseException:
        kind, value, trace = sys.exc_info()
        # The first frame is this one. What cannot be compiled has no other.
        sys.excepthook(kind, value.with_traceback(trace.tb_next), trace.tb_next)
        return -signal.SIGINT if kind is KeyboardInterrupt else 1


def asked(code):
    """Give the exit code of a SystemExit."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1


def finish(code):
    """End as an interpreter does, without taking apart what it did not make."""
    for step in (threading._shutdown, atexit._run_exitfuncs, forget):
        try:
            step()
        except BaseException:
            pass
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except BaseException:
            if stream is sys.stdout:
                code = code or 120
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def forget():
    """Drop what the command made, and write files that it left open."""
    main = sys.modules.get("__main__")
    if isinstance(main, types.ModuleType) and main is not SELF:
        main.__dict__.clear()
    gc.collect()
    for o in gc.get_objects():
        if issubclass(type(o), ANY_FILE) and o is not sys.stdout and o is not sys.stderr:
            try:
                o.flush()
            except BaseException:
                pass


def quiet(*_):
    """Signals to all processes of the sandbox do not end this one."""


for name in COMMON:
    try:
        __import__(name)
    except ImportError:
        pass
for s in TO_ALL:
    signal.signal(s, quiet)
ANY_FILE = io.IOBase.__mro__[1]
SELF = sys.modules["__main__"]
sys.path[0:1] = [""]
gc.collect()
gc.freeze()
agent = socket.socket(fileno=3)
agent.setblocking(True)
agent.send(json.dumps({"kind": "done"}).encode())
serve(agent)
