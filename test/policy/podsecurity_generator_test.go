package policy

import (
	"encoding/json"
	"maps"
	"math/rand"
	"slices"
	"strings"
)

type object = map[string]any

// A Generator generates random Pods from field values that affect the checks.
type Generator struct{ *rand.Rand }

// podSecurityProfiles are the types of seccomp and AppArmor profiles.
var podSecurityProfiles = []any{"RuntimeDefault", "Localhost", "Unconfined", ""}

// contextFields are the securityContext fields common to Pods and containers, with their values.
// Only later versions of the standards allow container_engine_t. For other values, all versions
// agree.
var contextFields = map[string][]any{
	"runAsNonRoot": {true, false}, "runAsUser": {0, 1},
	"seccompProfile.type": podSecurityProfiles, "appArmorProfile.type": podSecurityProfiles,
	"seLinuxOptions.type":        {"", "container_t", "container_kvm_t", "container_engine_t", "spc_t", "other_t"},
	"seLinuxOptions.user":        {"", "system_u"},
	"seLinuxOptions.role":        {"", "system_r"},
	"windowsOptions.hostProcess": {true, false},
}

// podContextFields are the securityContext fields that only Pods have, with their values. A sysctl
// may be safe in all versions of the standards, only in later versions, or in none.
var podContextFields = map[string][]any{
	"sysctls": {
		sysctls("kernel.shm_rmid_forced"), sysctls("net.ipv4.ip_local_reserved_ports", "kernel.msgmax"),
		sysctls("net.ipv4.tcp_fin_timeout"), sysctls("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"), sysctls("net.ipv4.tcp_notsent_lowat"), sysctls(),
	},
}

var containerContextFields = map[string][]any{
	"privileged": {true, false}, "allowPrivilegeEscalation": {true, false},
	"procMount":         {"Default", "Unmasked", "Other", ""},
	"capabilities":      {object{}},
	"capabilities.add":  {list("NET_BIND_SERVICE"), list("CHOWN", "NET_RAW"), list("SYS_ADMIN", "NET_RAW", "SYS_ADMIN"), list()},
	"capabilities.drop": {list("ALL"), list("KILL", "ALL"), list("NET_RAW"), list("all")},
}

// containerFields are the fields of containers, with their values. Several ports in a container
// test how messages list ports. Only newer versions of the standards check the hosts of probes and
// lifecycle handlers.
var containerFields = map[string][]any{
	"ports":                            {list(object{"containerPort": 1}), list(object{"hostPort": 80}, object{"hostPort": 443}, object{"hostPort": 9})},
	"livenessProbe.httpGet.host":       hosts,
	"readinessProbe.tcpSocket.host":    hosts,
	"startupProbe.exec.command":        {list("x")},
	"startupProbe.httpGet.host":        hosts,
	"lifecycle.postStart.httpGet.host": hosts,
	"lifecycle.preStop.tcpSocket.host": hosts,
}

var hosts = []any{"", "127.0.0.1", "b", "a"}

// podFields are fields of the Pod spec, with their values. Windows Pods and Pods with a user
// namespace are exempt from some checks. The configuration exempts the runtime class named exempt.
var podFields = map[string][]any{
	"hostNetwork": {true, false}, "hostPID": {true, false}, "hostIPC": {true, false},
	"hostUsers": {true, false}, "os.name": {"windows", "linux"},
	"runtimeClassName": {"", "exempt", "other"},
}

// volumeSources lists allowed and forbidden volume sources.
var volumeSources = []string{
	"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret",
	"hostPath", "gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "nfs", "iscsi", "glusterfs", "rbd", "flexVolume",
	"cinder", "cephfs", "flocker", "fc", "azureFile", "vsphereVolume", "quobyte", "azureDisk", "photonPersistentDisk",
	"portworxVolume", "scaleIO", "storageos",
}

// annotationKeys lists legacy seccomp and AppArmor annotations, which contain the container name.
// Older versions of the standards check them in addition to the fields. Some of the containers do
// not exist.
var annotationKeys = []string{
	"seccomp.security.alpha.kubernetes.io/pod", "container.seccomp.security.alpha.kubernetes.io/c0",
	"container.seccomp.security.alpha.kubernetes.io/other", "container.apparmor.security.beta.kubernetes.io/c0",
	"container.apparmor.security.beta.kubernetes.io/c1",
}

var annotationValues = []string{"", "runtime/default", "docker/default", "localhost/x", "unconfined", "other"}

// compliant contains the container fields that the restricted level requires. Random fields rarely
// include all of them.
var compliant = `{"allowPrivilegeEscalation":false,"runAsNonRoot":true,"capabilities":{"drop":["ALL"]},"seccompProfile":{"type":"RuntimeDefault"}}`

func list(items ...any) []any { return append([]any{}, items...) }

func sysctls(names ...string) []any {
	all := list()
	for _, name := range names {
		all = append(all, object{"name": name, "value": "1"})
	}
	return all
}

// Pod returns a random Pod or Pod template. Pods with few random fields test single messages, and
// Pods that violate many checks test how messages are joined.
func (g Generator) Pod() object {
	density := []float64{0.02, 0.1, 0.4}[g.Intn(3)]
	spec := object{"containers": g.containers("c", 1+g.Intn(2), density)}
	if g.Intn(3) == 0 {
		spec["initContainers"] = g.containers("i", g.Intn(3), density)
	}
	if g.Intn(4) == 0 {
		spec["ephemeralContainers"] = g.containers("e", 1, density)
	}
	g.fill(spec, podFields, density)
	if g.Intn(2) == 0 {
		context := g.context(podContextFields, density)
		spec["securityContext"] = context
	}
	volumes := list()
	for i := range g.Intn(3) {
		volume := object{"name": string(rune('v' + i))}
		if g.Intn(8) > 0 {
			volume[volumeSources[g.Intn(len(volumeSources))]] = object{}
		}
		volumes = append(volumes, volume)
		spec["volumes"] = volumes
	}
	pod := object{"metadata": object{"name": "p"}, "spec": spec}
	if g.Intn(3) == 0 {
		pod["metadata"].(object)["annotations"] = g.annotations()
	}
	return pod
}

func (g Generator) annotations() object {
	annotations := object{}
	for _, key := range annotationKeys {
		if g.Intn(2) == 0 {
			annotations[key] = annotationValues[g.Intn(len(annotationValues))]
		}
	}
	return annotations
}

// containers returns n random containers. prefix makes their names unique across the three
// container lists.
func (g Generator) containers(prefix string, n int, density float64) []any {
	all := list()
	for i := range n {
		c := object{"name": prefix + string(rune('0'+i)), "image": "x"}
		g.fill(c, containerFields, density)
		if g.Intn(4) > 0 {
			c["securityContext"] = g.context(containerContextFields, density)
		}
		all = append(all, c)
	}
	return all
}

// context returns a random securityContext with the common fields and those in own.
func (g Generator) context(own map[string][]any, density float64) object {
	context := object{}
	if _, container := own["privileged"]; container && g.Intn(2) == 0 {
		if err := json.Unmarshal([]byte(compliant), &context); err != nil {
			panic(err)
		}
	}
	g.fill(context, contextFields, density)
	g.fill(context, own, density)
	return context
}

// fill sets each field to a random value with probability density. It sorts the fields, so that the
// result depends only on the seed.
func (g Generator) fill(o object, fields map[string][]any, density float64) {
	for _, path := range slices.Sorted(maps.Keys(fields)) {
		if g.Float64() < density {
			values := fields[path]
			set(o, path, values[g.Intn(len(values))])
		}
	}
}

// set sets the field at a dotted path. It clones nested objects before changing them, because all
// Pods share the values in the tables.
func set(o object, path string, value any) {
	name, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		o[name] = value
		return
	}
	inner, _ := o[name].(object)
	if inner == nil {
		inner = object{}
	} else {
		inner = maps.Clone(inner)
	}
	o[name] = inner
	set(inner, rest, value)
}
