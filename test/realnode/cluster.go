package realnode

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/troupe-api/troupe/test/controlplane"
)

const (
	bridge        = "troupe0"
	serverAddress = "172.30.0.1"
	server        = serverAddress + ":6443"
	serverPort    = 6443

	registryAddress = serverAddress + ":5000"

	podSubnet     = "10.244.0.0/16"
	serviceSubnet = "10.96.0.0/16"
	token         = "abcdef.0123456789abcdef"
)

// Options configure a cluster.
type Options struct {
	Nodes   int
	Etcd    bool // run three API servers on etcd, behind a load balancer
	BuiltIn bool // run the API server's own controllers and scheduler instead of Kubernetes'

	// Reference, if it has an APIServer, runs instead of Troupe.
	Reference controlplane.Reference

	CertificateLifetime time.Duration // of kubelets; 0 is a year
}

// A Cluster is a running cluster of real nodes.
type Cluster struct {
	Kubeconfig string
	Kubectl    string // path of kubectl
	Machines   []*Machine

	servers   []*apiServer // one, or three on etcd
	flags     [][]string   // of each server
	killed    int          // number of servers that KillServer has killed
	dir       string
	programs  Programs
	processes controlplane.Processes
	registry  http.Server
	pulls     sync.RWMutex // held by requests to the registry
}

// Start starts a cluster and blocks until all nodes and add-ons are ready. It must run in a
// sandbox.
func Start(ctx context.Context, dir string, p Programs, o Options) (*Cluster, error) {
	c := &Cluster{dir: dir, programs: p, Kubectl: p.Path("kubectl")}
	if err := c.start(ctx, o); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context, o Options) error {
	for _, command := range []string{
		"ip link set lo up",
		"ip link add " + bridge + " type bridge",
		"ip addr add " + serverAddress + "/24 dev " + bridge,
		"ip link set " + bridge + " up",
		"sysctl -qw net.ipv4.ip_forward=1",
	} {
		if err := run(strings.Fields(command)...); err != nil {
			return err
		}
	}
	listener, err := net.Listen("tcp", registryAddress)
	if err != nil {
		return err
	}
	images := registry(c.programs.images())
	c.registry.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.pulls.RLock()
		defer c.pulls.RUnlock()
		images.ServeHTTP(w, r)
	})
	go func() { _ = c.registry.Serve(listener) }() // until Stop
	if err := c.startControlPlane(ctx, o); err != nil {
		return err
	}
	step("API server, controllers and scheduler are running")
	config := filepath.Join(c.dir, "kubeadm.yaml")
	if err := os.WriteFile(config, []byte(kubeadmConfig), 0o600); err != nil {
		return err
	}
	for _, phase := range []string{"upload-config all", "bootstrap-token", "addon all"} {
		args := append([]string{c.programs.Path("kubeadm"), "init", "phase"}, strings.Fields(phase)...)
		if err := run(append(args, "--config", config, "--kubeconfig", c.Kubeconfig)...); err != nil {
			return err
		}
	}
	step("kubeadm has installed the add-ons")
	go c.approveServing(ctx)
	for i := range o.Nodes {
		if err := c.Join(ctx, fmt.Sprint("node-", i+1), fmt.Sprint("172.30.0.", i+2), ByToken); err != nil {
			return err
		}
	}
	if err := c.processes.Await(ctx, "the nodes", func() bool { return c.kubectl("wait", "--for=condition=Ready", "node", "--all", "--timeout=1s") == nil }); err != nil {
		return err
	}
	step("the nodes are ready")
	err = c.processes.Await(ctx, "the add-ons", func() bool {
		return c.kubectl("-n", "kube-system", "rollout", "status", "ds/kube-proxy", "deploy/coredns", "--timeout=5s") == nil
	})
	step("the add-ons are ready")
	return err
}

func step(text string) { fmt.Println(time.Now().Format("15:04:05"), text) }

// Stop stops all processes, and prints the resources that the API servers and kube-apiserver's etcd
// used.
func (c *Cluster) Stop() {
	for _, m := range c.Machines {
		m.Kill()
	}
	memory := make([]string, len(c.servers))
	for i, s := range c.servers {
		memory[i] = s.peakMemory()
	}
	c.processes.Stop()
	for i, s := range c.servers {
		fmt.Printf("%s: %v of CPU, %s of memory at most, since %s\n", filepath.Base(s.Path), (s.ProcessState.UserTime() + s.ProcessState.SystemTime()).Round(time.Second), memory[i], s.started.Format(time.TimeOnly))
	}
	_ = c.registry.Close() // its clients have ended
}

// HoldPulls makes requests to the registry wait until release is called.
func (c *Cluster) HoldPulls() (release func()) {
	c.pulls.Lock()
	return c.pulls.Unlock
}

func (c *Cluster) kubectl(args ...string) error {
	_, err := c.Run(args...)
	return err
}

// Run runs kubectl as the administrator and returns its output.
func (c *Cluster) Run(args ...string) (string, error) {
	return c.RunWith("", args...)
}

// RunWith is like Run, with standard input.
func (c *Cluster) RunWith(input string, args ...string) (string, error) {
	k := exec.Command(c.Kubectl, append([]string{"--kubeconfig", c.Kubeconfig}, args...)...)
	k.Stdin = strings.NewReader(input)
	out, err := k.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), err
}

func (c *Cluster) startControlPlane(ctx context.Context, o Options) (err error) {
	controllers := "*,tokencleaner,bootstrapsigner"
	flags := []string{
		"--secure-port=6443", "--service-cluster-ip-range=" + serviceSubnet,
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--enable-bootstrap-token-auth",
		"--cors-allowed-origins=^http://localhost(:|$)",
	}
	signing := []string{}
	if o.CertificateLifetime > 0 {
		signing = append(signing, fmt.Sprint("--cluster-signing-duration=", o.CertificateLifetime))
	}
	if o.BuiltIn {
		flags = append(flags, signing...)
		controllers += ",workloads,scheduler,node-lifecycle-controller,taint-eviction-controller"
		flags = append(flags, "--allocate-node-cidrs", "--cluster-cidr="+podSubnet)
	}
	flags = append(flags, "--controllers="+controllers)
	if err := c.startServers(ctx, o, flags); err != nil {
		return err
	}
	if o.BuiltIn {
		return nil
	}
	if _, err := c.processes.StartManager(c.programs.Path("kube-controller-manager"), c.administrator(), append(signing,
		"--allocate-node-cidrs=true", "--cluster-cidr="+podSubnet, "--service-cluster-ip-range="+serviceSubnet, "--controllers=*,bootstrapsigner,tokencleaner")...); err != nil {
		return err
	}
	_, err = c.processes.StartScheduler(c.programs.Path("kube-scheduler"), c.administrator())
	return err
}

const kubeadmConfig = `apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
bootstrapTokens:
- token: ` + token + `
localAPIEndpoint: {advertiseAddress: ` + serverAddress + `, bindPort: 6443}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.37.2
controlPlaneEndpoint: ` + server + `
networking: {podSubnet: ` + podSubnet + `, serviceSubnet: ` + serviceSubnet + `}
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: cgroupfs
failCgroupV1: false
failSwapOn: false
serverTLSBootstrap: true
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}
imageGCHighThresholdPercent: 100
---
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
`

// A Discovery selects how a joining node finds the cluster and verifies its CA.
type Discovery int

const (
	ByToken Discovery = iota // with a bootstrap token and the hash of the CA's public key
	ByFile                   // with a kubeconfig
)

// Join starts a machine and joins it to the cluster with kubeadm.
func (c *Cluster) Join(ctx context.Context, name, address string, discovery Discovery) error {
	m, err := startMachine(c.dir, c.programs.dir, name, address)
	if err != nil {
		return err
	}
	c.Machines = append(c.Machines, m)
	discover, err := c.discovery(discovery)
	if err != nil {
		return err
	}
	info, err := c.Run("-n", "kube-public", "get", "configmap", "cluster-info", "-o", "jsonpath={.data.kubeconfig}")
	if err != nil {
		return err
	}
	for path, text := range map[string]string{
		discoveryFile:                                 info,
		"/etc/containerd/config.toml":                 containerdConfig,
		"/etc/containerd/certs.d/_default/hosts.toml": "[host.\"http://" + registryAddress + "\"]\n",
		"/etc/resolv.conf":                            "nameserver " + serverAddress + "\n",
		"/etc/hosts":                                  "127.0.0.1 localhost\n" + address + " " + name + "\n",
		"/etc/kubeadm.yaml":                           fmt.Sprintf(joinConfig, discover, m.cgroup(), address, name),
	} {
		if err := m.Write(path, text); err != nil {
			return err
		}
	}
	if _, err := c.processes.Start(m.enter("containerd")[0], m.enter("containerd")[1:]...); err != nil {
		return err
	}
	if err := c.processes.Await(ctx, "containerd", func() bool { return m.Run("test", "-S", "/run/containerd/containerd.sock") == nil }); err != nil {
		return err
	}
	if _, err := c.processes.Start(m.enter("sh", "-c", kubeletScript)[0], m.enter("sh", "-c", kubeletScript)[1:]...); err != nil {
		return err
	}
	if err := m.Run("kubeadm", "join", "--config", "/etc/kubeadm.yaml", "-v=5"); err != nil {
		return err
	}
	step(name + " has joined")
	return c.connectPods(ctx, m)
}

// kubeletScript runs the kubelet as kubeadm's systemd unit does.
const kubeletScript = `until [ -s /var/lib/kubelet/config.yaml ] && [ -s /var/lib/kubelet/kubeadm-flags.env ]; do sleep 0.1; done
. /var/lib/kubelet/kubeadm-flags.env
exec kubelet --bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf --config=/var/lib/kubelet/config.yaml $KUBELET_KUBEADM_ARGS`

// containerdConfig does not lower OOM scores, which would require CAP_SYS_RESOURCE.
const containerdConfig = `version = 3
[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "registry.k8s.io/pause:3.10.2"
[plugins."io.containerd.cri.v1.images".registry]
  config_path = "/etc/containerd/certs.d"
[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["/usr/lib/cni"]
    conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
      SystemdCgroup = false
`

const joinConfig = `apiVersion: kubeadm.k8s.io/v1beta4
kind: JoinConfiguration
discovery:
  tlsBootstrapToken: ` + token + `
  %s
nodeRegistration:
  kubeletExtraArgs:
  - {name: cgroup-root, value: /%s}
  - {name: node-ip, value: %s}
  name: %s
  ignorePreflightErrors: [SystemVerification, Mem, NumCPU]
`

const discoveryFile = "/etc/cluster-info.yaml"

// discovery returns the discovery method as a field of a JoinConfiguration.
func (c *Cluster) discovery(d Discovery) (string, error) {
	if d == ByFile {
		return "file: {kubeConfigPath: " + discoveryFile + "}", nil
	}
	hash, err := c.caHash()
	return fmt.Sprintf("bootstrapToken: {token: %s, apiServerEndpoint: %q, caCertHashes: [%q]}", token, server, hash), err
}

// caHash returns the hash of the CA's public key, in the format of kubeadm join.
func (c *Cluster) caHash() (string, error) {
	text, err := os.ReadFile(filepath.Join(c.administrator().PKI, "ca.crt"))
	if err != nil {
		return "", err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return "", errors.New("ca.crt is no PEM file")
	}
	ca, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(ca.RawSubjectPublicKeyInfo)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// connectPods waits for the Pod CIDR of the node, and configures the network of its Pods and the
// routes to them.
func (c *Cluster) connectPods(ctx context.Context, m *Machine) error {
	var cidr string
	err := c.processes.Await(ctx, "the Pod CIDR of "+m.Name, func() bool {
		out, err := exec.Command(c.Kubectl, "--kubeconfig", c.Kubeconfig, "get", "node", m.Name, "-o", "jsonpath={.spec.podCIDR}").Output()
		cidr = string(out)
		return err == nil && cidr != ""
	})
	if err != nil {
		return err
	}
	if err := m.Write("/etc/cni/net.d/10-bridge.conflist", fmt.Sprintf(networkConfig, cidr)); err != nil {
		return err
	}
	m.podCIDR = cidr
	if err := run("ip", "route", "add", cidr, "via", m.Address); err != nil {
		return err
	}
	for _, other := range c.Machines {
		if other == m {
			continue
		}
		if err := errors.Join(other.Run("ip", "route", "add", cidr, "via", m.Address), m.Run("ip", "route", "add", other.podCIDR, "via", other.Address)); err != nil {
			return err
		}
	}
	return nil
}

const networkConfig = `{"cniVersion": "0.4.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "ranges": [[{"subnet": "%s"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
`
