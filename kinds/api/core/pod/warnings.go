package pod

import (
	"github.com/troupe-api/troupe/kinds/api/internal/warning"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// checks are the parts of validation and warnings that depend only on the naming profile. All
// requests share them.
type checks struct {
	addresses   warning.Addresses
	labels      warning.NodeLabels
	annotations []deprecatedAnnotation
	profiles    profileAnnotations
	marks       markAnnotations
}

func newChecks(n *meta.Naming) *checks {
	return &checks{
		addresses:   warning.NewAddresses(n),
		labels:      warning.NewNodeLabels(n),
		annotations: newDeprecatedAnnotations(n),
		profiles:    newProfileAnnotations(n),
		marks:       newMarkAnnotations(n),
	}
}

// Warnings warns only about new Pods, since most of a Pod cannot change.
func (s podStrategy) Warnings(obj, old tree.Tree) []string {
	if old != nil {
		return nil
	}
	c := collector{checks: s.checks, meta: obj.Object("metadata"), spec: obj.Object("spec")}
	c.warnPodAppArmor()
	c.texts = warning.AppendHostName(c.texts, obj, "the Pod's hostname")
	c.warnAll()
	return c.texts
}

func (w *checks) warnPodStatus(obj, _ tree.Tree) []string {
	status := obj.Object("status")
	texts := w.addresses.AppendObjectIPs(nil, status.List("podIPs"), warning.At("", "status.podIPs"), ".ip")
	return w.addresses.AppendObjectIPs(texts, status.List("hostIPs"), warning.At("", "status.hostIPs"), ".ip")
}

// Changes reports whether an object is new or its generation differs from that of old, so its spec
// has changed.
func Changes(obj, old tree.Tree) bool {
	if old == nil {
		return true
	}
	now, _ := obj.Object("metadata").Int("generation")
	was, _ := old.Object("metadata").Int("generation")
	return now != was
}

// A collector collects the warnings of one Pod or template. It formats paths only for warnings.
type collector struct {
	*checks
	prefix     string // precedes "spec" and "metadata" in paths: "" for a Pod
	meta, spec tree.Tree
	texts      []string
}

// enoughTexts bounds the warnings of one kind, since a Pod may have thousands of overlapping pairs.
const enoughTexts = 256

// warnAll warns in the order of kube-apiserver.
func (c *collector) warnAll() {
	c.warnScheduling()
	c.warnAnnotations()
	c.warnVolumes()
	c.warnFileOverlaps()
	c.warnNames()
	c.warnOverhead()
	c.warnPodSeccomp()
	c.warnContainers()
	c.warnPorts()
	if seconds, ok := c.spec.Int("terminationGracePeriodSeconds"); ok && seconds < 0 {
		c.warn("spec.terminationGracePeriodSeconds", ": must be >= 0; negative values are invalid and will be treated as 1")
	}
	c.warnPodAffinities()
	c.texts = c.addresses.AppendIPs(c.texts, c.spec.Object("dnsConfig").List("nameservers"), c.at("spec.dnsConfig.nameservers"))
	c.texts = c.addresses.AppendObjectIPs(c.texts, c.spec.List("hostAliases"), c.at("spec.hostAliases"), ".ip")
}

func (c *collector) warn(field, text string) { c.texts = append(c.texts, c.prefix+field+text) }

func (c *collector) at(field string) warning.Path { return warning.At(c.prefix, field) }

func (c *collector) warnNames() {
	aliases, secrets := c.spec.List("hostAliases"), c.spec.List("imagePullSecrets")
	c.warnDuplicates(aliases, "ip", "spec.hostAliases")
	c.warnDuplicates(secrets, "name", "spec.imagePullSecrets")
	for i, v := range secrets {
		if secret, _ := v.(tree.Tree); secret.String("name") == "" {
			c.warn(tree.IndexPath("spec.imagePullSecrets", i), `.name: invalid empty name ""`)
		}
	}
}

func (c *collector) warnOverhead() {
	for _, resource := range byteResources {
		if text := warning.FractionalBytes(c.spec.Object("overhead"), resource); text != "" {
			c.warn("spec.overhead", text)
		}
	}
}

// byteResources are the resources that are counted in bytes.
var byteResources = [...]string{"memory", "ephemeral-storage"}
