package pod

import (
	"cmp"
	"regexp"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/kinds/api/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

const fileMode = int64(0o644)

// defaultPodSpec sets the defaults of a Pod or template spec. Defaults are stored, so a later
// server version with other defaults does not change existing Pods.
func defaultPodSpec(spec tree.Tree) {
	field.SetIfEmpty(spec, "restartPolicy", "Always")
	field.SetIfEmpty(spec, "terminationGracePeriodSeconds", int64(30))
	field.SetIfEmpty(spec, "dnsPolicy", "ClusterFirst")
	field.SetIfEmpty(spec, "securityContext", tree.Tree{})
	field.SetIfEmpty(spec, "schedulerName", "default-scheduler")
	defaultServiceAccount(spec)
	for _, v := range spec.Objects("volumes") {
		if v != nil {
			defaultVolume(v)
		}
	}
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for _, c := range spec.Objects(list) {
			if c != nil {
				defaultContainer(c)
			}
		}
	}
}

// podTemplateStrategy needs no Prepare, because a PodTemplate has no status.
type podTemplateStrategy struct{ schema.DefaultStrategy }

func (podTemplateStrategy) Default(obj tree.Tree) { DefaultTemplate(obj.EnsureObject("template")) }

// DefaultTemplate sets the defaults of a Pod template. Other defaults, such as tolerations, are set
// only in new Pods.
func DefaultTemplate(template tree.Tree) { defaultPodSpec(template.EnsureObject("spec")) }

// defaultServiceAccount keeps the deprecated field serviceAccount, which older clients read, equal
// to serviceAccountName.
func defaultServiceAccount(spec tree.Tree) {
	name := cmp.Or(spec.String("serviceAccountName"), spec.String("serviceAccount"))
	if name != "" && (spec.String("serviceAccountName") != name || spec.String("serviceAccount") != name) {
		spec["serviceAccountName"], spec["serviceAccount"] = name, name
	}
}

func defaultContainer(c tree.Tree) {
	field.SetIfEmpty(c, "resources", tree.Tree{})
	field.SetIfEmpty(c, "terminationMessagePath", "/dev/termination-log")
	field.SetIfEmpty(c, "terminationMessagePolicy", "File")
	field.SetIfEmpty(c, "imagePullPolicy", pullPolicy(c.String("image")))
	for _, p := range c.Objects("ports") {
		if p != nil {
			field.SetIfEmpty(p, "protocol", "TCP")
		}
	}
	for _, e := range c.Objects("env") {
		defaultFieldRef(e.Object("valueFrom"))
	}
	for _, name := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		if p := c.Object(name); p != nil {
			defaultProbe(p)
		}
	}
	for _, name := range []string{"postStart", "preStop"} {
		defaultHTTPGet(c.Object("lifecycle", name))
	}
}

// pullPolicy returns Always for images without a tag or with the tag latest, because these may
// change. It returns IfNotPresent for other tags and for digests.
func pullPolicy(image string) string {
	if strings.Contains(image, "@") || !imageRE().MatchString(image) {
		return "IfNotPresent"
	}
	last := image[strings.LastIndexByte(image, '/')+1:]
	_, tag, tagged := strings.Cut(last, ":")
	repository := strings.TrimSuffix(image, ":"+tag)
	if tagged && tag != "latest" || len(repository) > maxRepository {
		return "IfNotPresent"
	}
	return "Always"
}

// imageRE matches an image name with an optional tag. A name that does not match, for example
// because of capital letters, is treated as a name without a tag. The expression is compiled on
// first use, which takes 2 ms.
var imageRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?/)?` +
		`[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*(?::\w[\w.-]{0,127})?$`)
})

// defaultProbe sets a probe's defaults. It treats 0 as absent, because some clients encode unset
// numbers as 0.
func defaultProbe(p tree.Tree) {
	for name, n := range map[string]int64{"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3} {
		if v, _ := p.Int(name); v == 0 {
			p[name] = n
		}
	}
	defaultHTTPGet(p)
	if grpc := p.Object("grpc"); grpc != nil {
		field.SetIfEmpty(grpc, "service", "")
	}
}

// defaultProtocols is for Pods only, because a new field would change all templates.
func defaultProtocols(spec tree.Tree) {
	for _, list := range containerLists {
		for _, c := range spec.Objects(list) {
			for _, handler := range []tree.Tree{c.Object("livenessProbe"), c.Object("readinessProbe"), c.Object("startupProbe"), c.Object("lifecycle", "postStart"), c.Object("lifecycle", "preStop")} {
				if get := handler.Object("httpGet"); get != nil {
					field.SetIfAbsent(get, "protocol", "HTTP1")
				}
			}
		}
	}
}

func defaultHTTPGet(handler tree.Tree) {
	if get := handler.Object("httpGet"); get != nil {
		field.SetIfEmpty(get, "path", "/")
		field.SetIfEmpty(get, "scheme", "HTTP")
	}
}

func defaultFieldRef(source tree.Tree) {
	if ref := source.Object("fieldRef"); ref != nil {
		field.SetIfEmpty(ref, "apiVersion", "v1")
	}
}

// defaultVolume sets a volume's defaults. A volume without a source becomes an emptyDir. An
// ephemeral volume's claim template is part of the Pod, so it gets its volumeMode here.
func defaultVolume(v tree.Tree) {
	if len(v) == 0 || len(v) == 1 && v["name"] != nil {
		v["emptyDir"] = tree.Tree{}
	}
	for _, name := range []string{"secret", "configMap", "downwardAPI", "projected"} {
		if source := v.Object(name); source != nil {
			field.SetIfEmpty(source, "defaultMode", fileMode)
			defaultItems(source)
		}
	}
	for _, source := range v.Object("projected").Objects("sources") {
		defaultItems(source.Object("downwardAPI"))
		if token := source.Object("serviceAccountToken"); token != nil {
			field.SetIfEmpty(token, "expirationSeconds", int64(3600))
		}
	}
	if claim := v.Object("ephemeral", "volumeClaimTemplate", "spec"); claim != nil {
		field.SetIfAbsent(claim, "volumeMode", "Filesystem")
	}
	for name, defaults := range sourceDefaults {
		if source := v.Object(name); source != nil {
			for key, value := range defaults {
				field.SetIfEmpty(source, key, value)
			}
		}
	}
	if disk := v.Object("azureDisk"); disk != nil {
		for key, value := range diskDefaults {
			field.SetIfAbsent(disk, key, value)
		}
	}
	if image := v.Object("image"); image != nil {
		field.SetIfEmpty(image, "pullPolicy", pullPolicy(image.String("reference")))
	}
}

func defaultItems(source tree.Tree) {
	for _, item := range source.Objects("items") {
		defaultFieldRef(item)
	}
}

// sourceDefaults holds the constant defaults of volume sources. The values must not be maps,
// because all objects share them.
var sourceDefaults = map[string]tree.Tree{
	"hostPath": {"type": ""},
	"iscsi":    {"iscsiInterface": "default"},
	"rbd":      {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
	"scaleIO":  {"storageMode": "ThinProvisioned", "fsType": "xfs"},
}

// diskDefaults holds the defaults of azureDisk. They apply only to absent fields.
var diskDefaults = tree.Tree{"cachingMode": "ReadWrite", "fsType": "ext4", "readOnly": false, "kind": "Shared"}

// maxRepository limits an image name without its tag, in bytes.
const maxRepository = 255
