"""Let the reference's grain functions see another system than the one they run on.

Files come from a made-up root, programs answer from a table, and what Python says of the platform is replaced.
A program that the table does not have ends the recording: without a recorded answer there is no fact to record.
"""
import builtins
import contextlib
import ntpath
import os
import pathlib
import platform
import posixpath
import socket
import sys
import tempfile
import types
from unittest import mock

HOST, DOMAIN = "minion", "example.org"
FQDN = f"{HOST}.{DOMAIN}"
ADDRESS, GATEWAY, HARDWARE = "192.0.2.10", "192.0.2.1", "02:00:00:00:00:0a"
UUID = "00000000-0000-4000-8000-00000000000a"
MEMORY, SWAP = 4 << 30, 1 << 30
CPU = "Example CPU @ 2.00GHz"
FLAGS = "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat clflush mmx fxsr sse sse2 ht syscall nx lm"
FEATURES = "+PAM +AUDIT +SELINUX +APPARMOR +IMA +SECCOMP +GCRYPT +OPENSSL +ACL +BLKID +KMOD +XZ +ZSTD"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Names of the network interfaces, the first one being the loopback.
INTERFACES = {"Linux": ("lo", "eth0"), "FreeBSD": ("lo0", "vtnet0"), "OpenBSD": ("lo0", "vio0"), "Darwin": ("lo0", "en0"),
              "Windows": ("Software Loopback Interface 1", "Ethernet Adapter")}
# Where the packages of the Salt project install it, or else the system's own.
SALT = {"Linux": "/opt/saltstack/salt", "Darwin": "/opt/salt", "FreeBSD": "/usr/local", "OpenBSD": "/usr/local",
        "Windows": "C:\\Program Files\\Salt Project\\Salt"}


@contextlib.contextmanager
def system(described):
    """Pretend to be on the described system."""
    import salt.grains.core as core
    import salt.grains.disks as disks
    import salt.grains.extra as extra
    import salt.modules.cmdmod
    import salt.utils.files
    import salt.utils.network
    import salt.utils.package
    import salt.utils.path
    import salt.utils.pkg.rpm
    import salt.utils.platform
    import salt.utils.user

    kernel = described["system"]
    with tempfile.TemporaryDirectory() as root, contextlib.ExitStack() as patches:
        root = pathlib.Path(root)
        write(root, files_of(described))
        here = Paths(root, ntpath if kernel == "Windows" else posixpath)

        def replace(owner, **names):
            for name, value in names.items():
                patches.enter_context(mock.patch.object(owner, name, value, create=True))

        programs = Programs(described)
        uname = uname_of(described)
        python = types.SimpleNamespace(
            uname=lambda: uname, system=lambda: kernel, release=lambda: uname[2], version=lambda: uname[3])
        functions = {
            "cmd.run": programs.output, "cmd.retcode": programs.status, "cmd.run_all": programs.all,
            "cmd.powershell": lambda command: {"DeviceID": "0", "MediaType": "SSD"},
            "network.fqdns": lambda: {"fqdns": [FQDN]}, "smbios.get": lambda name: None, "smbios.records": lambda: [],
        }
        original_fopen = salt.utils.files.fopen
        replace(core, os=here, platform=python, __salt__=functions, __opts__={"master": "salt"}, __FQDN__=None,
                _freedesktop_os_release=lambda: os_release(root), __file__=here.join(packages_of(kernel), "salt/grains/core.py"),
                socket=sockets(), sys=interpreter(kernel), HAS_WMI=kernel == "Windows", HAS_UNAME=False,
                _get_machine_identifier=lambda: {"machine_id": UUID.replace("-", "")} if kernel == "Linux" else {})
        replace(core.file, directory_exists=here.isdir)
        replace(core.locale, getlocale=lambda: ("en_US", "UTF-8"))
        replace(builtins, __salt_system_encoding__="utf-8")
        replace(extra, os=here)
        replace(disks, __salt__=functions, glob=types.SimpleNamespace(glob=here.glob))
        replace(salt.utils.files, fopen=lambda file, *args, **kwargs: original_fopen(here.real(file), *args, **kwargs))
        replace(salt.utils.path, which=programs.which, which_bin=lambda names: None, readlink=lambda path: "../devices/pci0000:00")
        replace(salt.utils.package, pkg_type=lambda: "onedir" if SALT[kernel] != "/usr/local" else "system")
        replace(salt.utils.pkg.rpm, platform=python)
        replace(salt.utils.network, interfaces=lambda: interfaces(kernel), get_fqhostname=lambda: FQDN)
        for name in [name for name in dir(salt.utils.platform) if name.startswith("is_")]:
            replace(salt.utils.platform, **{name: lambda is_it=name[3:] == kernel.lower(): is_it})
        replace(salt.utils.user, get_user=lambda: "SYSTEM" if kernel == "Windows" else "root", get_uid=lambda: 0,
                get_gid=lambda: 0, get_default_group=lambda user: {"Linux": "root", "Windows": None}.get(kernel, "wheel"))
        if kernel == "Linux":
            import distro

            replace(salt.utils.platform, distro=distro.LinuxDistribution(root_dir=str(root)))
        if kernel == "Windows":
            pretend_windows(replace, core, described)
        # The packages' own Python has no module of that name, whatever the system has.
        patches.enter_context(mock.patch.dict(sys.modules, {"lsb_release": None}))
        environment = {"PATH": path_of(kernel), "NUMBER_OF_PROCESSORS": "2", "TZ": "UTC"}
        patches.enter_context(mock.patch.dict(os.environ, environment, clear=True))
        core._clear_interfaces()
        try:
            yield
        finally:
            core._clear_interfaces()


class Paths:
    """The module `os` over a made-up root, as far as grains ask it."""

    def __init__(self, root, paths):
        self.root, self.flavour = root, paths
        self.path = types.SimpleNamespace(
            isfile=lambda path: self.real(path).is_file(), isdir=self.isdir, exists=lambda path: self.real(path).exists(),
            join=paths.join, basename=paths.basename, dirname=paths.dirname, abspath=paths.normpath, pardir=paths.pardir,
            pathsep=paths.pathsep)
        self.environ, self.R_OK, self.linesep = os.environ, os.R_OK, "\n"

    def real(self, path):
        return self.root / str(path).lstrip("/")

    def isdir(self, path):
        return self.real(path).is_dir()

    def stat(self, path):
        return self.real(path).stat()

    def access(self, path, mode):
        return os.access(self.real(path), mode)

    def glob(self, pattern):
        return sorted("/" + str(path.relative_to(self.root)) for path in self.root.glob(pattern.lstrip("/")))

    def join(self, *parts):
        return self.flavour.normpath(self.flavour.join(*parts))


def write(root, files):
    for name, content in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")


def files_of(described):
    """What lies on the system's disks, as far as grains read it."""
    kernel = described["system"]
    files = {"etc/resolv.conf": f"search {DOMAIN}\nnameserver {GATEWAY}\n"}
    if kernel == "FreeBSD":
        files["var/run/dmesg.boot"] = f"CPU: {CPU}\n  Features=0x1<{FLAGS.upper().replace(' ', ',')}>\nreal memory\n"
    if kernel != "Linux":
        return files
    files.update(described["files"])
    files["etc/os-release"] = "".join(f'{key}="{value}"\n' for key, value in described["os_release"].items())
    one = f"vendor_id : GenuineIntel\nmodel name : {CPU}\nflags : {FLAGS}\n\n"
    files["proc/cpuinfo"] = "".join(f"processor : {at}\n{one}" for at in range(2))
    files["proc/meminfo"] = f"MemTotal: {MEMORY >> 10} kB\nSwapTotal: {SWAP >> 10} kB\n"
    files["sys/block/vda/queue/rotational"] = "1\n"
    firmware = {"bios_version": "1.0", "bios_vendor": "SeaBIOS", "bios_date": "04/01/2014", "product_name": "KVM Virtual Machine",
                "product_uuid": UUID, "sys_vendor": "QEMU"}
    files.update({f"sys/class/dmi/id/{name}": f"{value}\n" for name, value in firmware.items()})
    files["sys/devices/virtual/dmi/id/product_name"] = "KVM Virtual Machine\n"
    if described["systemd"]:
        files["run/systemd/system/x"] = ""
    else:
        files["proc/1/cmdline"], files["sbin/init"] = "/sbin/init\0", described["init"]
    return files


def os_release(root):
    """As Python itself reads the file."""
    with open(root / "etc/os-release", encoding="utf-8") as file:
        return platform._parse_os_release(file)


def uname_of(described):
    kernel = described["system"]
    cpu = {"Linux": "x86_64", "Darwin": "arm64", "Windows": "AMD64"}.get(kernel, "amd64")
    version = described.get("version") or "#1 SMP PREEMPT_DYNAMIC"
    release = {"Windows": "10"}.get(kernel, described["kernel"])
    return (kernel, HOST, release, version, cpu, cpu if kernel == "Linux" else "")


def packages_of(kernel):
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return SALT[kernel] + ("\\Lib\\site-packages" if kernel == "Windows" else f"/lib/{python}/site-packages")


def interpreter(kernel):
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    home = SALT[kernel]
    if kernel == "Windows":
        return types.SimpleNamespace(executable=f"{home}\\Scripts\\python.exe", version_info=sys.version_info,
                                     path=[f"{home}\\Scripts", f"{home}\\Lib", packages_of(kernel)])
    library = f"{home}/lib/{python}"
    return types.SimpleNamespace(executable=f"{home}/bin/{python}", version_info=sys.version_info,
                                 path=["/usr/bin", library, f"{library}/lib-dynload", packages_of(kernel)])


def path_of(kernel):
    return "C:\\Windows\\system32;C:\\Windows;C:\\Windows\\System32\\Wbem" if kernel == "Windows" else PATH


def interfaces(kernel):
    loopback, first = INTERFACES[kernel]
    return {
        loopback: {"up": True, "inet": [{"address": "127.0.0.1", "netmask": "255.0.0.0", "label": loopback}],
                   "inet6": [{"address": "::1", "prefixlen": "128"}], "hwaddr": "00:00:00:00:00:00"},
        first: {"up": True, "inet": [{"address": ADDRESS, "netmask": "255.255.255.0", "broadcast": "192.0.2.255", "label": first}],
                "hwaddr": HARDWARE},
    }


def sockets():
    def getaddrinfo(name, port, family):
        if name == FQDN and family == socket.AF_INET:
            return [(family, socket.SOCK_STREAM, 6, "", (ADDRESS, 0))]
        raise OSError(f"no address of {name}")

    return types.SimpleNamespace(AF_INET=socket.AF_INET, AF_INET6=socket.AF_INET6, gethostname=lambda: HOST, getaddrinfo=getaddrinfo)


class Programs:
    """What programs print; the first word of a command is its name, with or without a directory."""

    def __init__(self, described):
        kernel = described["system"]
        self.answers = {"Linux": linux_programs, "FreeBSD": freebsd_programs, "OpenBSD": openbsd_programs,
                        "Darwin": macos_programs, "Windows": lambda described: {}}[kernel](described)
        self.directory = "/usr/sbin" if kernel != "OpenBSD" else "/sbin"

    def which(self, name):
        if name.startswith("/"):
            return name
        return f"{self.directory}/{name}" if any(command.split()[0] == name for command in self.answers) else None

    def output(self, command, **kwargs):
        words = command if isinstance(command, list) else command.split()
        words = [words[0].rpartition("/")[2], *words[1:]]
        command = " ".join(words)
        if command not in self.answers:
            sys.exit(f"the reference asked for `{command}`, which the described system does not answer")
        return self.answers[command]

    def status(self, command, **kwargs):
        asked, _, name = command.rpartition(" ")
        if asked in ("which", "type -ap"):
            return 0 if self.which(name) else 1
        return int(self.output(command))

    def all(self, command, **kwargs):
        if command.startswith("whereis -b "):
            return {"stdout": command.split()[-1] + ":", "retcode": 0, "stderr": ""}
        return {"stdout": self.output(command), "retcode": 0, "stderr": ""}


def linux_programs(described):
    programs = {"ip -4 route show": f"default via {GATEWAY} dev eth0", "ip -6 route show": ""}
    if described["systemd"]:
        programs.update({"systemctl --version": f"systemd {described['systemd']} ({described['systemd']})\n{FEATURES}",
                         "localectl": "", "systemd-detect-virt": "kvm"})
    if described["selinux"]:
        programs.update({"selinuxenabled": "1" if described["selinux"] == "Disabled" else "0", "getenforce": described["selinux"]})
    if described["dpkg"]:
        programs["dpkg --print-architecture"] = "amd64"
    return programs


def freebsd_programs(described):
    return {
        "freebsd-version -u": described["kernel"], "sysctl -n hw.ncpu": "2", "sysctl -n hw.machine": "amd64",
        "sysctl -n hw.model": CPU, "sysctl -n hw.physmem": str(MEMORY), "sysctl -n vm.swap_total": str(SWAP),
        "sysctl -n hw.hv_vendor": "KVMKVMKVM", "sysctl -n security.jail.jailed": "0",
        "kenv smbios.bios.version": "1.0", "kenv smbios.bios.vendor": "SeaBIOS", "kenv smbios.system.maker": "QEMU",
        "kenv smbios.system.serial": "Not Specified", "kenv smbios.system.product": "KVM Virtual Machine",
        "kenv smbios.bios.reldate": "04/01/2014", "kenv smbios.system.uuid": UUID,
        "geom disk list": "Geom name: vtbd0\n1. Name: vtbd0\n   Mediasize: 21474836480 (20G)\n   Sectorsize: 512\n"
                          "   descr: (null)\n   ident: (null)\n   rotationrate: unknown",
    }


def openbsd_programs(described):
    return {
        "arch -s": "amd64", "sysctl -n hw.ncpu": "2", "sysctl -n hw.machine": "amd64", "sysctl -n hw.model": CPU,
        "sysctl -n hw.physmem": str(MEMORY), "swapctl -sk": f"total: {SWAP >> 10} 1K-blocks allocated, 0 used, {SWAP >> 10} available",
        "sysctl -n hw.version": "1.0", "sysctl -n hw.vendor": "QEMU", "sysctl -n hw.product": "KVM Virtual Machine",
        "sysctl -n hw.serialno": "sysctl: hw.serialno: value is not available", "sysctl -n hw.uuid": UUID,
    }


def macos_programs(described):
    return {
        "sw_vers -productVersion": described["product"], "sw_vers -productName": "macOS", "sw_vers -buildVersion": described["build"],
        "sysctl -n hw.ncpu": "2", "sysctl -n hw.machine": "arm64", "sysctl -n hw.model": "Mac14,3",
        "sysctl -n machdep.cpu.brand_string": "Apple M2",
        # There are no such flags on this processor, and the reference takes the complaint for them.
        "sysctl -n machdep.cpu.features": "sysctl: unknown oid 'machdep.cpu.features'",
        "sysctl -n hw.memsize": str(MEMORY), "sysctl -b hw.model": "Mac14,3",
        "sysctl -n vm.swapusage": "total = 1024.00M  used = 0.00M  free = 1024.00M  (encrypted)",
        "system_profiler SPHardwareDataType": "Hardware:\n\n    Hardware Overview:\n\n      Model Name: Mac mini\n",
        "system_profiler SPDisplaysDataType": "Graphics/Displays:\n\n    Apple M2:\n\n      Chipset Model: Apple M2\n",
    }


def pretend_windows(replace, core, described):
    """The management instrumentation, registry and system calls of Windows."""
    import salt.utils

    management = types.SimpleNamespace(
        Win32_ComputerSystem=lambda: [types.SimpleNamespace(Manufacturer="QEMU", Model="KVM Virtual Machine")],
        Win32_OperatingSystem=lambda: [types.SimpleNamespace(
            Caption=described["caption"], Version=described["version"], Manufacturer="Microsoft Corporation",
            ProductType=described["product_type"])],
        Win32_BIOS=lambda: [types.SimpleNamespace(Name="1.0", Version="BOCHS  - 1", SerialNumber="None")],
        Win32_TimeZone=lambda: [types.SimpleNamespace(Description="(UTC) Coordinated Universal Time")],
        Win32_ComputerSystemProduct=lambda: [types.SimpleNamespace(UUID=UUID.upper())],
        Win32_BaseBoard=lambda: [])
    replace(core, wmi=types.SimpleNamespace(WMI=lambda: management),
            win32api=types.SimpleNamespace(GlobalMemoryStatusEx=lambda: {"TotalPhys": MEMORY}))
    replace(salt.utils, winapi=types.SimpleNamespace(Com=contextlib.nullcontext),
            win_reg=types.SimpleNamespace(read_value=lambda **key: {"vdata": CPU}),
            win_osinfo=types.SimpleNamespace(get_join_info=lambda: {"Domain": "WORKGROUP", "DomainType": "Workgroup"},
                                             get_os_version_info=lambda: {"ServicePackMajor": 0}))
