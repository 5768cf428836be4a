"""The grains of the built-in platforms, computed by the reference's own `salt.grains` from what each system says.

A platform is described by what the reference reads there: fields of the published /etc/os-release, release files,
the answers of uname and of a few programs. Those are facts about the system. Everything that would describe one
machine (names, addresses, disks, memory) is the same neutral value everywhere, with addresses and names that are
reserved for documentation.
"""
import json
import re

import pretend

# What depends on the process that computes it, and not on the platform.
LEFT_OUT = {"id", "server_id", "pid", "cwd", "kernelparams", "zmqversion"}


def linux(title, os_release, kernel, systemd=None, *, aliases=(), files=(), selinux=None, dpkg=False, init=None):
    return {"title": title, "aliases": list(aliases), "system": "Linux", "os_release": os_release, "kernel": kernel,
            "systemd": systemd, "files": dict(files), "selinux": selinux, "dpkg": dpkg, "init": init}


def fields(**given):
    return given


def debian(version, codename, point, kernel, systemd):
    name = f"Debian GNU/Linux {version} ({codename})"
    os_release = fields(ID="debian", NAME="Debian GNU/Linux", PRETTY_NAME=name, VERSION_ID=version,
                        VERSION=f"{version} ({codename})", VERSION_CODENAME=codename)
    return linux(name, os_release, kernel, systemd, dpkg=True, files={"etc/debian_version": f"{version}.{point}\n"})


def ubuntu(version, point, name, kernel, systemd):
    codename = name.split()[0].lower()
    pretty = f"Ubuntu {version}.{point} LTS"
    os_release = fields(ID="ubuntu", ID_LIKE="debian", NAME="Ubuntu", PRETTY_NAME=pretty, VERSION_ID=version,
                        VERSION=f"{version}.{point} LTS ({name})", VERSION_CODENAME=codename)
    lsb = f'DISTRIB_ID=Ubuntu\nDISTRIB_RELEASE={version}\nDISTRIB_CODENAME={codename}\nDISTRIB_DESCRIPTION="{pretty}"\n'
    debian_of = {"18.04": "buster", "20.04": "bullseye", "22.04": "bookworm", "24.04": "trixie"}[version]
    return linux(pretty, os_release, kernel, systemd, dpkg=True,
                 files={"etc/lsb-release": lsb, "etc/debian_version": f"{debian_of}/sid\n"},
                 aliases=[f"ubuntu-{version.split('.')[0]}"])


def rocky(version, codename, kernel, systemd):
    return rebuild("rocky", "Rocky Linux", "rockylinux", "rocky", version, codename, kernel, systemd)


def alma(version, codename, kernel, systemd):
    return rebuild("almalinux", "AlmaLinux", "almalinux", "alma", version, codename, kernel, systemd)


def rebuild(os_id, name, key, short, version, codename, kernel, systemd):
    major = version.split(".")[0]
    full = f"{version} ({codename})"
    os_release = fields(ID=os_id, ID_LIKE="rhel centos fedora", NAME=name, PRETTY_NAME=f"{name} {full}", VERSION=full,
                        VERSION_ID=version, CPE_NAME=f"cpe:/o:{os_id}:{os_id}:{major}::baseos")
    release = f"{name} release {full}\n"
    return linux(f"{name} {full}", os_release, kernel, systemd, selinux="Enforcing", aliases=[f"{short}-{major}"],
                 files={f"etc/{os_id}-release": release, "etc/redhat-release": release, "etc/system-release": release})


def oracle(version, kernel, systemd):
    major, minor = version.split(".")
    name = f"Oracle Linux Server {version}"
    os_release = fields(ID="ol", ID_LIKE="fedora", NAME="Oracle Linux Server", PRETTY_NAME=name, VERSION=version,
                        VERSION_ID=version, CPE_NAME=f"cpe:/o:oracle:linux:{major}:{minor}:server")
    files = {"etc/oracle-release": f"Oracle Linux Server release {version}\n"}
    return linux(name, os_release, kernel, systemd, selinux="Enforcing", files=files, aliases=[f"oracle-{major}", f"ol-{major}"])


def centos(title, os_release, kernel, systemd, release):
    files = {f"etc/{name}-release": f"CentOS Linux release {release}\n" for name in ("centos", "redhat", "system")}
    return linux(title, os_release, kernel, systemd, selinux="Enforcing", files=files)


def centos_stream(version, kernel, systemd, aliases=()):
    name = f"CentOS Stream {version}"
    os_release = fields(ID="centos", ID_LIKE="rhel fedora", NAME="CentOS Stream", PRETTY_NAME=name, VERSION=version,
                        VERSION_ID=version, CPE_NAME=f"cpe:/o:centos:centos:{version}")
    release = f"CentOS Stream release {version}\n"
    return linux(name, os_release, kernel, systemd, selinux="Enforcing", aliases=[f"centos-stream-{version}", *aliases],
                 files={"etc/centos-release": release, "etc/redhat-release": release, "etc/system-release": release})


def fedora(version, word, kernel, systemd):
    name = f"Fedora Linux {version} (Server Edition)"
    os_release = fields(ID="fedora", NAME="Fedora Linux", PRETTY_NAME=name, VERSION=f"{version} (Server Edition)",
                        VERSION_ID=version, VERSION_CODENAME="", CPE_NAME=f"cpe:/o:fedoraproject:fedora:{version}")
    release = f"Fedora release {version} ({word})\n"
    return linux(name, os_release, kernel, systemd, selinux="Enforcing",
                 files={"etc/fedora-release": release, "etc/redhat-release": release, "etc/system-release": release})


def leap(version, kernel, systemd, aliases=()):
    name = f"openSUSE Leap {version}"
    os_release = fields(ID="opensuse-leap", ID_LIKE="suse opensuse", NAME="openSUSE Leap", PRETTY_NAME=name,
                        VERSION=version, VERSION_ID=version, CPE_NAME=f"cpe:/o:opensuse:leap:{version}")
    return linux(name, os_release, kernel, systemd, aliases=[f"leap-{version}", f"opensuse-{version}", *aliases])


def gentoo(boots, **more):
    os_release = fields(ID="gentoo", NAME="Gentoo", PRETTY_NAME="Gentoo Linux", VERSION_ID="2.18")
    return linux(f"Gentoo with {boots}", os_release, "6.12.41-gentoo-x86_64",
                 files={"etc/gentoo-release": "Gentoo Base System release 2.18\n"}, **more)


def alpine(version, kernel):
    name = "Alpine Linux v" + version.rsplit(".", 1)[0]
    os_release = fields(ID="alpine", NAME="Alpine Linux", PRETTY_NAME=name, VERSION_ID=version)
    return linux(name, os_release, kernel, init="busybox", files={"etc/alpine-release": f"{version}\n"})


def bsd(system, release, version, aliases=()):
    return {"title": f"{system} {release}", "aliases": list(aliases), "system": system, "kernel": release, "version": version}


def macos(name, version, build, darwin):
    return {"title": f"macOS {version} ({name})", "aliases": [f"mac_os_x-{version.split('.')[0]}"], "system": "Darwin",
            "kernel": darwin, "product": version, "build": build, "version": f"Darwin Kernel Version {darwin}"}


def windows(caption, version, product_type, aliases=()):
    return {"title": caption, "aliases": list(aliases), "system": "Windows", "kernel": version, "caption": caption,
            "product_type": product_type, "version": version}


CENTOS_7 = fields(ID="centos", ID_LIKE="rhel fedora", NAME="CentOS Linux", PRETTY_NAME="CentOS Linux 7 (Core)",
                  VERSION="7 (Core)", VERSION_ID="7", CPE_NAME="cpe:/o:centos:centos:7")
CENTOS_8 = fields(ID="centos", ID_LIKE="rhel fedora", NAME="CentOS Linux", PRETTY_NAME="CentOS Linux 8", VERSION="8",
                  VERSION_ID="8", CPE_NAME="cpe:/o:centos:centos:8")
AMAZON_2 = fields(ID="amzn", ID_LIKE="centos rhel fedora", NAME="Amazon Linux", PRETTY_NAME="Amazon Linux 2",
                  VERSION="2", VERSION_ID="2", CPE_NAME="cpe:2.3:o:amazon:amazon_linux:2")
AMAZON_2023 = fields(ID="amzn", ID_LIKE="fedora", NAME="Amazon Linux", PRETTY_NAME="Amazon Linux 2023.8.20250915",
                     VERSION="2023", VERSION_ID="2023", CPE_NAME="cpe:2.3:o:amazon:amazon_linux:2023")
TUMBLEWEED = fields(ID="opensuse-tumbleweed", ID_LIKE="opensuse suse", NAME="openSUSE Tumbleweed",
                    PRETTY_NAME="openSUSE Tumbleweed", VERSION_ID="20240823",
                    CPE_NAME="cpe:2.3:o:opensuse:tumbleweed:20240823:*:*:*:*:*:*:*")
SLES_15 = fields(ID="sles", ID_LIKE="suse", NAME="SLES", PRETTY_NAME="SUSE Linux Enterprise Server 15 SP7",
                 VERSION="15-SP7", VERSION_ID="15.7", CPE_NAME="cpe:/o:suse:sles:15:sp7")
ARCH = fields(ID="arch", NAME="Arch Linux", PRETTY_NAME="Arch Linux", BUILD_ID="rolling")

PLATFORMS = {
    "almalinux-8": alma("8.10", "Cerulean Leopard", "4.18.0-553.el8_10.x86_64", "239"),
    "almalinux-9": alma("9.6", "Sage Margay", "5.14.0-570.12.1.el9_6.x86_64", "252"),
    "almalinux-10": alma("10.0", "Purple Lion", "6.12.0-55.9.1.el10_0.x86_64", "257"),
    "alpine-3.20": alpine("3.20.7", "6.6.102-0-lts"),
    "alpine-3.21": alpine("3.21.4", "6.12.40-0-lts"),
    "alpine-3.22": alpine("3.22.1", "6.12.41-0-lts"),
    "amazonlinux-2": linux("Amazon Linux 2", AMAZON_2, "4.14.355-280.695.amzn2.x86_64", "219", selinux="Disabled",
                           aliases=["amazon-2"], files={"etc/system-release": "Amazon Linux release 2 (Karoo)\n"}),
    "amazonlinux-2023": linux("Amazon Linux 2023", AMAZON_2023, "6.1.150-174.273.amzn2023.x86_64", "252",
                              selinux="Permissive", aliases=["amazon-2023"],
                              files={"etc/system-release": "Amazon Linux release 2023.8.20250915 (Amazon Linux)\n"}),
    "arch": linux("Arch Linux", ARCH, "6.12.41-1-lts", "257", aliases=["archlinux", "arch-base-latest"],
                  files={"etc/arch-release": ""}),
    "centos-7": centos("CentOS Linux 7 (Core)", CENTOS_7, "3.10.0-1160.el7.x86_64", "219", "7.9.2009 (Core)"),
    "centos-8": centos("CentOS Linux 8", CENTOS_8, "4.18.0-348.el8.x86_64", "239", "8.5.2111"),
    "centosstream-8": centos_stream("8", "4.18.0-552.el8.x86_64", "239"),
    "centosstream-9": centos_stream("9", "5.14.0-592.el9.x86_64", "252", ["centos-9"]),
    "debian-10": debian("10", "buster", 13, "4.19.0-27-amd64", "241"),
    "debian-11": debian("11", "bullseye", 11, "5.10.0-35-amd64", "247"),
    "debian-12": debian("12", "bookworm", 11, "6.1.0-37-amd64", "252"),
    "debian-13": debian("13", "trixie", 1, "6.12.43+deb13-amd64", "257"),
    "fedora-40": fedora("40", "Forty", "6.8.5-301.fc40.x86_64", "255"),
    "fedora-41": fedora("41", "Forty One", "6.11.4-301.fc41.x86_64", "256"),
    "fedora-42": fedora("42", "Adams", "6.14.0-63.fc42.x86_64", "257"),
    "fedora-43": fedora("43", "Forty Three", "6.17.1-300.fc43.x86_64", "258"),
    "freebsd-13": bsd("FreeBSD", "13.5-RELEASE", "FreeBSD 13.5-RELEASE GENERIC"),
    "freebsd-14": bsd("FreeBSD", "14.3-RELEASE", "FreeBSD 14.3-RELEASE GENERIC"),
    "gentoo-openrc": gentoo("OpenRC", init="sysvinit", aliases=["gentoo", "gentoo-2-sysv"]),
    "gentoo-systemd": gentoo("systemd", systemd="257", aliases=["gentoo-2-sysd"]),
    "macos-13": macos("Ventura", "13.7.8", "22H730", "22.6.0"),
    "macos-14": macos("Sonoma", "14.7.8", "23H730", "23.6.0"),
    "macos-15": macos("Sequoia", "15.6.1", "24G90", "24.6.0"),
    "openbsd-7": bsd("OpenBSD", "7.7", "GENERIC.MP#625"),
    "opensuse-leap-15.5": leap("15.5", "5.14.21-150500.53-default", "249"),
    "opensuse-leap-15.6": leap("15.6", "6.4.0-150600.21-default", "254", ["opensuse-15", "opensuse-leap-15"]),
    "opensuse-tumbleweed": linux("openSUSE Tumbleweed", TUMBLEWEED, "6.10.5-1-default", "256", aliases=["tumbleweed"]),
    "oraclelinux-7": oracle("7.9", "5.4.17-2136.338.4.1.el7uek.x86_64", "219"),
    "oraclelinux-8": oracle("8.9", "5.15.0-200.131.27.el8uek.x86_64", "239"),
    "oraclelinux-9": oracle("9.5", "5.15.0-302.167.6.el9uek.x86_64", "252"),
    "rockylinux-8": rocky("8.10", "Green Obsidian", "4.18.0-553.el8_10.x86_64", "239"),
    "rockylinux-9": rocky("9.5", "Blue Onyx", "5.14.0-503.14.1.el9_5.x86_64", "252"),
    "rockylinux-10": rocky("10.0", "Red Quartz", "6.12.0-55.9.1.el10_0.x86_64", "257"),
    "sles-15": linux("SUSE Linux Enterprise Server 15 SP7", SLES_15, "6.4.0-150700.51-default", "254", aliases=["sles-15.7"]),
    "ubuntu-18.04": ubuntu("18.04", 6, "Bionic Beaver", "4.15.0-213-generic", "237"),
    "ubuntu-20.04": ubuntu("20.04", 6, "Focal Fossa", "5.4.0-216-generic", "245"),
    "ubuntu-22.04": ubuntu("22.04", 5, "Jammy Jellyfish", "5.15.0-143-generic", "249"),
    "ubuntu-24.04": ubuntu("24.04", 3, "Noble Numbat", "6.8.0-71-generic", "255"),
    "windows-10": windows("Microsoft Windows 10 Pro", "10.0.19045", 1),
    "windows-11": windows("Microsoft Windows 11 Pro", "10.0.26100", 1),
    "windows-2019": windows("Microsoft Windows Server 2019 Standard", "10.0.17763", 3, ["windows-2019-server"]),
    "windows-2022": windows("Microsoft Windows Server 2022 Standard", "10.0.20348", 3, ["windows-2022-server"]),
}


def record(path):
    """Write all platforms to a file, one a line: name, what people call it, aliases, tuples, and grains as JSON.

    JSON has no tuples, so the grains that are tuples are named. The names of all grains go to a file beside it.
    """
    lines = []
    names = set()
    for name in sorted(PLATFORMS, key=natural):
        described, grains = PLATFORMS[name], grains_of(PLATFORMS[name])
        tuples = sorted(key for key, value in grains.items() if isinstance(value, tuple))
        ordered = {key: grains[key] for key in sorted(grains)}
        names.update(ordered)
        text = json.dumps(ordered, ensure_ascii=False, separators=(",", ":"))
        lines.append("\t".join([name, described["title"], ",".join(described["aliases"]), ",".join(tuples), text]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    path.with_name("platform_grains.txt").write_text("\n".join(sorted(names)) + "\n", encoding="utf-8")
    print(f"{path.name}: {len(lines)} platforms", flush=True)


def natural(name):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def all_grains():
    """The grains of all platforms, as JSON has them."""
    return {name: json.loads(json.dumps(grains_of(described))) for name, described in PLATFORMS.items()}


def grains_of(described):
    """What the reference's grain functions say on the platform."""
    import salt.grains.core as core
    import salt.grains.disks as disks
    import salt.grains.extra as extra
    import salt.grains.minion_process as process
    import salt.grains.package as package

    grains = {}
    with pretend.system(described):
        functions = [
            core.os_data, core.locale_info, core.hostname, core.fqdns, core.ip_fqdn, core.ip_interfaces,
            core.ip4_interfaces, core.ip6_interfaces, core.hwaddr_interfaces, core.dns, core.get_machine_id, core.path,
            core.pythonversion, core.pythonpath, core.pythonexecutable, core.saltpath, core.saltversion,
            core.saltversioninfo, core.get_master, core.default_gateway, core.fibre_channel_host, extra.shell, extra.uefi,
            extra.transactional, disks.disks, process.grains, package.package,
        ]
        for function in functions:
            grains.update(function() or {})
    return {key: value for key, value in grains.items() if key not in LEFT_OUT}
