"""RabbitMQ nodes, each with a network, a root and a disk of its own, and the balancer in front of them."""

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

from kit.gateway import wait_until

from .disk import Disk
from .settings import balancer_configuration, broker_configuration, definitions

ROOT = Path(os.environ["FLEET_ROOT"])
# Short, because three nodes share two cores: no scheduler waits for work without sleeping.
ERLANG = "+S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none"
USER, GROUP = "rabbitmq", "rabbitmq"
COOKIE = "only-for-this-run"
# As Debian's unit has it (Restart=on-failure, RestartSec=10). When all nodes start at once after a power cut, Mnesia may
# crash in one of them as it merges their schemas: the node ends with "node_not_running".
RESTART_S = 10
MOST_RESTARTS = 5


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, **options)


def is_open(address, port):
    try:
        socket.create_connection((address, port), timeout=1).close()
        return True
    except OSError:
        return False


class Node:
    def __init__(self, directory: Path, number):
        self.name, self.address = f"node{number}", f"10.77.0.{10 + number}"
        self.directory = directory / self.name
        self.root = self.directory / "root"
        self.process = None
        # Since `start`; and when it is started again, once it has ended by itself.
        self.restarts = 0
        self.restart_at = None
        upper, scratch = self.directory / "upper", self.directory / "scratch"
        for made in (upper, scratch, self.root):
            made.mkdir(parents=True)
        run("mount", "-t", "overlay", "overlay", "-o", f"lowerdir={ROOT},upperdir={upper},workdir={scratch}", self.root)
        self.disk = Disk(directory / f"{self.name}.img", self.root / "var/lib/rabbitmq")
        # Holds the network while the node is down.
        self.holder = subprocess.Popen(["unshare", "--net", "--uts", "sleep", "infinity"])
        wait_until(lambda: Path(f"/proc/{self.holder.pid}/comm").read_text().strip() == "sleep", "a network", 20)
        self.enter = ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net", f"--uts=/proc/{self.holder.pid}/ns/uts"]
        run("ip", "link", "add", self.name, "type", "veth", "peer", "name", "eth0", "netns", self.holder.pid)
        run("ip", "link", "set", self.name, "master", "bridge", "up")
        for command in (["hostname", self.name], ["ip", "link", "set", "lo", "up"], ["ip", "link", "set", "eth0", "up"],
                        ["ip", "address", "add", f"{self.address}/24", "dev", "eth0"],
                        ["nft", "add table inet parting; add chain inet parting input "
                                "{ type filter hook input priority 0; }"]):
            run(*self.enter, *command)

    def write(self, path, content, mode=0o644):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            content = content.encode()
        file.unlink(missing_ok=True)
        file.touch(mode=0o600)
        file.write_bytes(content)
        run("chroot", self.root, "chown", f"{USER}:{GROUP}", f"/{path}")
        file.chmod(mode)

    def inside(self, *command):
        """The command in the node's root and network, as its user."""
        environment = ["env", "-i", "HOME=/var/lib/rabbitmq", "LANG=C.UTF-8", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                       f"RABBITMQ_NODENAME=rabbit@{self.name}",
                       f"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS={ERLANG}"]
        return [*self.enter, "unshare", "--pid", "--fork", "--kill-child", "--mount", f"--mount-proc={self.root}/proc",
                "chroot", f"--userspec={USER}:{GROUP}", str(self.root), *environment, *command]

    def control(self, *arguments, program="rabbitmqctl", seconds=180):
        """What a command of RabbitMQ prints."""
        result = subprocess.run(self.inside(f"/usr/lib/rabbitmq/bin/{program}", "--quiet", *arguments),
                                capture_output=True, text=True, timeout=seconds)
        if result.returncode != 0:
            raise RuntimeError(f"{self.name}: {program} {arguments[0]}: {result.stdout[-500:]} {result.stderr[-500:]}")
        return result.stdout

    def start(self):
        self.restarts = 0
        self.launch()

    def launch(self):
        self.restart_at = None
        with (self.directory / "output").open("ab") as output:
            self.process = subprocess.Popen(self.inside("/usr/lib/rabbitmq/bin/rabbitmq-server"), stdout=output,
                                            stderr=output, stdin=subprocess.DEVNULL)

    def is_ready(self):
        if self.process.poll() is not None:
            self.restart()
        return is_open(self.address, 8883)

    def restart(self):
        """It has ended by itself, and is started again as its unit would do it."""
        if self.restart_at is None:
            if self.process.returncode == 0 or self.restarts == MOST_RESTARTS:
                raise RuntimeError(f"{self.name} ended with {self.process.returncode}: {self.log()[-2000:]}")
            self.restart_at = time.monotonic() + RESTART_S
        elif time.monotonic() >= self.restart_at:
            print(f"# {self.name} ended with {self.process.returncode} as it started; it is started again", flush=True)
            self.restarts += 1
            self.launch()

    def log(self):
        file = self.root / "var/log/rabbitmq/node.log"
        return file.read_text(errors="replace") if file.exists() else (self.directory / "output").read_text()

    def kill(self):
        """SIGKILL to all of its processes."""
        first = run("pgrep", "--parent", self.process.pid, capture_output=True, text=True).stdout.split()
        for process in first:
            os.kill(int(process), signal.SIGKILL)
        self.process.wait(timeout=60)
        self.process = None

    def stop(self):
        """In order."""
        self.control("stop")
        self.process.wait(timeout=120)
        self.process = None

    def memory(self):
        """The resident memory of its Erlang machine, in KiB."""
        namespace = os.readlink(f"/proc/{self.process.pid}/ns/pid_for_children")
        for status in Path("/proc").glob("[0-9]*/status"):
            try:
                if os.readlink(status.parent / "ns/pid") == namespace and "beam.smp" in status.read_text():
                    return int(status.read_text().split("VmRSS:")[1].split()[0])
            except OSError:
                continue
        raise RuntimeError(f"{self.name} has no Erlang machine")

    def part_from(self, others):
        """Nothing from these nodes arrives here any more. Clients still reach this one."""
        for other in others:
            run(*self.enter, "nft", f"add rule inet parting input ip saddr {other.address} drop")

    def join(self):
        run(*self.enter, "nft", "flush chain inet parting input")

    def link(self, is_up):
        run("ip", "link", "set", self.name, "up" if is_up else "down")


class Cluster:
    def __init__(self, directory: Path, authority, publishers, readers, count=3):
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "bridge", "type", "bridge")
        run("ip", "link", "set", "bridge", "up")
        run("ip", "address", "add", "10.77.0.1/24", "dev", "bridge")
        self.nodes = [Node(directory, number) for number in range(1, count + 1)]
        names = [node.name for node in self.nodes]
        hosts = "127.0.0.1 localhost\n" + "".join(f"{node.address} {node.name}\n" for node in self.nodes)
        for node in self.nodes:
            certificate, key = authority.sign(node.name)
            # The first makes the cluster, alone; the others join it.
            peers = names[:1] if node is self.nodes[0] else names
            node.write("etc/hosts", hosts)
            node.write("etc/rabbitmq/rabbitmq.conf", broker_configuration(peers))
            node.write("etc/definitions.json", definitions(publishers, readers))
            node.write("etc/rabbitmq/enabled_plugins", "[rabbitmq_mqtt,rabbitmq_prometheus].\n")
            node.write("etc/rabbitmq/authority.pem", authority.path.read_bytes())
            node.write("etc/rabbitmq/broker.crt", certificate.read_bytes())
            node.write("etc/rabbitmq/broker.key", key.read_bytes(), 0o600)
            node.write("var/lib/rabbitmq/.erlang.cookie", COOKIE, 0o400)
            run("chroot", node.root, "chown", f"{USER}:{GROUP}", "/var/lib/rabbitmq")
            node.disk.sync()
        self.balancer = Balancer(directory, self.nodes)

    def begin(self, seconds=1200):
        """The first start of their life. Users, permissions and policies come to the first node while it is alone,
        which takes a fraction of the time. Returns the seconds that this took."""
        first = self.nodes[0]
        first.start()
        wait_until(first.is_ready, f"{first.name} takes connections", seconds)
        first.control("await_startup")
        began = time.monotonic()
        first.control("import_definitions", "/etc/definitions.json", seconds=900)
        took = time.monotonic() - began
        self.start(seconds)
        self.balancer.start()
        return took

    def start(self, seconds=1200):
        for node in self.nodes:
            if not node.process:
                node.start()
        # Each is looked after while the others start: one that waits for another ends as well.
        wait_until(lambda: all([node.is_ready() for node in self.nodes]), "all nodes take connections", seconds)
        self.await_all()

    def await_all(self):
        """Until all are in the cluster. A node takes connections a moment before it takes this command."""
        for attempt in range(10):
            try:
                self.nodes[0].control("await_online_nodes", str(len(self.nodes)))
                return
            except RuntimeError:
                if attempt == 9:
                    raise
                time.sleep(3)

    def cut_power(self):
        """Of all nodes, at once: first nobody hears of an acknowledgement any more, then the disks take nothing."""
        self.balancer.kill()
        for node in self.nodes:
            node.disk.cut()
        for node in self.nodes:
            node.kill()

    def power_again(self, seconds=1200):
        for node in self.nodes:
            node.disk.mount_again()
        self.start(seconds)
        self.balancer.start()


class Balancer:
    """haproxy, at a loopback address: the simulated gateways deliver to no other."""

    def __init__(self, directory: Path, nodes):
        self.log, self.root = directory / "haproxy.log", nodes[0].root
        nodes[0].write("etc/haproxy.cfg", balancer_configuration({node.name: node.address for node in nodes}))
        self.process = None

    def start(self):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(["chroot", str(self.root), "haproxy", "-db", "-f", "/etc/haproxy.cfg"],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(lambda: is_open("127.0.0.1", 8883), "the balancer takes connections", 30)

    def kill(self):
        self.process.kill()
        self.process.wait()
