package catalog

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// fileMode is what files of volumes get by default: octal 0644.
const fileMode = int64(0o644)

// defaultPodSpec fills in a PodSpec, of a Pod or of a template.
func defaultPodSpec(spec schema.Tree) {
	setIfEmpty(spec, "restartPolicy", "Always")
	setIfEmpty(spec, "terminationGracePeriodSeconds", int64(30))
	setIfEmpty(spec, "dnsPolicy", "ClusterFirst")
	setIfEmpty(spec, "securityContext", schema.Tree{})
	setIfEmpty(spec, "schedulerName", "default-scheduler")
	defaultServiceAccount(spec)
	for _, v := range rules.Trees(spec, "volumes") {
		if v != nil {
			defaultVolume(v)
		}
	}
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for _, c := range rules.Trees(spec, list) {
			if c != nil {
				defaultContainer(c)
			}
		}
	}
}

// defaultServiceAccount keeps the old name of serviceAccountName the same as the new one, which wins.
func defaultServiceAccount(spec schema.Tree) {
	name := rules.String(spec, "serviceAccountName")
	if name == "" {
		name = rules.String(spec, "serviceAccount")
	}
	if name != "" {
		spec["serviceAccountName"], spec["serviceAccount"] = name, name
	}
}

func defaultContainer(c schema.Tree) {
	setIfEmpty(c, "resources", schema.Tree{})
	setIfEmpty(c, "terminationMessagePath", "/dev/termination-log")
	setIfEmpty(c, "terminationMessagePolicy", "File")
	setIfEmpty(c, "imagePullPolicy", pullPolicy(rules.String(c, "image")))
	for _, p := range rules.Trees(c, "ports") {
		if p != nil {
			setIfEmpty(p, "protocol", "TCP")
		}
	}
	for _, e := range rules.Trees(c, "env") {
		defaultFieldRef(rules.Nested(e, "valueFrom"))
	}
	for _, name := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		if p := rules.Nested(c, name); p != nil {
			defaultProbe(p)
		}
	}
	for _, name := range []string{"postStart", "preStop"} {
		defaultHTTPGet(rules.Nested(c, "lifecycle", name))
	}
}

// pullPolicy is Always for the tag latest, given or implied, and IfNotPresent for another tag or a digest.
func pullPolicy(image string) string {
	if strings.Contains(image, "@") {
		return "IfNotPresent"
	}
	last := image[strings.LastIndexByte(image, '/')+1:]
	if _, tag, ok := strings.Cut(last, ":"); ok && tag != "latest" {
		return "IfNotPresent"
	}
	return "Always"
}

func defaultProbe(p schema.Tree) {
	for name, n := range map[string]int64{"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3} {
		if v, _ := rules.Int(p, name); v == 0 {
			p[name] = n
		}
	}
	defaultHTTPGet(p)
	if grpc := rules.Nested(p, "grpc"); grpc != nil {
		setIfEmpty(grpc, "service", "")
	}
}

// defaultHTTPGet completes the request that a probe or a lifecycle handler makes.
func defaultHTTPGet(handler schema.Tree) {
	if get := rules.Nested(handler, "httpGet"); get != nil {
		setIfEmpty(get, "path", "/")
		setIfEmpty(get, "scheme", "HTTP")
	}
}

func defaultFieldRef(source schema.Tree) {
	if ref := rules.Nested(source, "fieldRef"); ref != nil {
		setIfEmpty(ref, "apiVersion", "v1")
	}
}

// defaultVolume completes the source of a volume; without one it is an emptyDir.
func defaultVolume(v schema.Tree) {
	if len(v) == 0 || len(v) == 1 && v["name"] != nil {
		v["emptyDir"] = schema.Tree{}
	}
	for _, name := range []string{"secret", "configMap", "downwardAPI", "projected"} {
		if source := rules.Nested(v, name); source != nil {
			setIfEmpty(source, "defaultMode", fileMode)
			defaultItems(source)
		}
	}
	for _, source := range rules.Trees(rules.Nested(v, "projected"), "sources") {
		defaultItems(rules.Nested(source, "downwardAPI"))
		if token := rules.Nested(source, "serviceAccountToken"); token != nil {
			setIfEmpty(token, "expirationSeconds", int64(3600))
		}
	}
	if claim := rules.Nested(v, "ephemeral", "volumeClaimTemplate", "spec"); claim != nil {
		setIfEmpty(claim, "volumeMode", "Filesystem")
	}
	for name, defaults := range sourceDefaults {
		if source := rules.Nested(v, name); source != nil {
			for field, value := range defaults {
				setIfEmpty(source, field, value)
			}
		}
	}
	if image := rules.Nested(v, "image"); image != nil {
		setIfEmpty(image, "pullPolicy", pullPolicy(rules.String(image, "reference")))
	}
}

func defaultItems(source schema.Tree) {
	for _, item := range rules.Trees(source, "items") {
		defaultFieldRef(item)
	}
}

// sourceDefaults are the plain defaults inside volume sources.
var sourceDefaults = map[string]map[string]any{
	"hostPath":  {"type": ""},
	"iscsi":     {"iscsiInterface": "default"},
	"rbd":       {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
	"azureDisk": {"cachingMode": "ReadWrite", "fsType": "ext4", "readOnly": false, "kind": "Shared"},
	"scaleIO":   {"storageMode": "ThinProvisioned", "fsType": "xfs"},
}
