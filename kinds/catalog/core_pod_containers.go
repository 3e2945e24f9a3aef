package catalog

import (
	"fmt"
	"math"
	"strings"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// validateContainers checks the three lists of containers. parts are what they may refer
// to; container names are unique across the lists.
func validateContainers(spec schema.Tree, path string, parts podReferences, faults *schema.Faults) {
	names, hostPorts := map[string]bool{}, map[string]bool{}
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for i, c := range rules.Trees(spec, list) {
			at := rules.IndexPath(path+"."+list, i)
			name := rules.String(c, "name")
			if names[name] && name != "" {
				faults.Duplicate(at+".name", name)
			}
			names[name] = true
			validateContainer(c, at, parts, faults)
			validateContainerPorts(c, at+".ports", rules.Bool(spec, "hostNetwork"), hostPorts, faults)
			switch list {
			case "initContainers":
				validateInitContainer(c, at, faults)
			case "ephemeralContainers":
				validateEphemeralContainer(c, at, faults)
			}
		}
	}
	for i, c := range rules.Trees(spec, "ephemeralContainers") {
		if target := rules.String(c, "targetContainerName"); target != "" && !names[target] {
			faults.NotFound(rules.IndexPath(path+".ephemeralContainers", i)+".targetContainerName", target)
		}
	}
}

func validateContainer(c schema.Tree, path string, parts podReferences, faults *schema.Faults) {
	image := rules.String(c, "image")
	if image == "" {
		faults.Required(path + ".image")
	} else if strings.TrimSpace(image) != image {
		faults.Invalid(path+".image", image, "must not have leading or trailing whitespace")
	}
	validateEnv(c, path, faults)
	validateMounts(c, path+".volumeMounts", parts.volumes, faults)
	validateDevicePaths(c, path+".volumeDevices", parts.volumes, faults)
	validateResources(rules.Nested(c, "resources"), path+".resources", faults)
	validateClaimNames(rules.Nested(c, "resources"), path+".resources.claims", parts.claims, faults)
	validateResizePolicy(c, path+".resizePolicy", parts.restartable, faults)
	validateContainerSecurity(rules.Nested(c, "securityContext"), path+".securityContext", faults)
	for _, name := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		validateProbe(rules.Nested(c, name), path+"."+name, name != "readinessProbe", faults)
	}
	for _, name := range []string{"postStart", "preStop"} {
		if h := rules.Nested(c, "lifecycle", name); h != nil {
			validateHandler(h, path+".lifecycle."+name, faults, "exec", "httpGet", "tcpSocket", "sleep")
		}
	}
}

// validateInitContainer checks what only init containers must heed: those that do not restart
// run once, so that nothing can probe them.
func validateInitContainer(c schema.Tree, path string, faults *schema.Faults) {
	policy := rules.String(c, "restartPolicy")
	if policy != "" && policy != "Always" {
		faults.NotSupported(path+".restartPolicy", policy, []string{"Always"})
	}
	if policy == "Always" {
		return
	}
	for _, name := range []string{"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"} {
		if rules.Has(c, name) {
			faults.Forbidden(path+"."+name, "may not be set for init containers without restartPolicy=Always")
		}
	}
}

func validateEphemeralContainer(c schema.Tree, path string, faults *schema.Faults) {
	for _, name := range []string{"ports", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "resources", "resizePolicy"} {
		if !rules.Empty(c[name]) {
			faults.Forbidden(path+"."+name, "cannot be set for an Ephemeral Container")
		}
	}
	for i, m := range rules.Trees(c, "volumeMounts") {
		for _, name := range []string{"subPath", "subPathExpr"} {
			if rules.String(m, name) != "" {
				faults.Forbidden(rules.IndexPath(path+".volumeMounts", i)+"."+name, "cannot be set for an Ephemeral Container")
			}
		}
	}
}

// validateContainerPorts checks the ports of one container; hostPorts are those that earlier ones took.
func validateContainerPorts(c schema.Tree, path string, hostNetwork bool, hostPorts map[string]bool, faults *schema.Faults) {
	names := map[string]bool{}
	for i, p := range rules.Trees(c, "ports") {
		at := rules.IndexPath(path, i)
		if name := rules.String(p, "name"); name != "" {
			if names[name] {
				faults.Duplicate(at+".name", name)
			}
			names[name] = true
		}
		port, _ := rules.Int(p, "containerPort")
		host, _ := rules.Int(p, "hostPort")
		if port == 0 {
			faults.Required(at + ".containerPort")
		} else if port < 1 || port > 65535 {
			faults.Invalid(at+".containerPort", port, boundsMsg(1, 65535))
		}
		validateFormat(p, "hostIP", at, faults, rules.IP)
		if host == 0 {
			continue
		}
		if host < 1 || host > 65535 {
			faults.Invalid(at+".hostPort", host, boundsMsg(1, 65535))
		} else if hostNetwork && host != port {
			faults.Invalid(at+".containerPort", port, "must match `hostPort` when `hostNetwork` is true")
		}
		taken := fmt.Sprintf("%s/%s/%d", rules.String(p, "protocol"), rules.String(p, "hostIP"), host)
		if hostPorts[taken] {
			faults.Duplicate(at+".hostPort", taken)
		}
		hostPorts[taken] = true
	}
}

func validateContainerSecurity(s schema.Tree, path string, faults *schema.Faults) {
	if s == nil {
		return
	}
	validateBounds(s, "runAsUser", path, faults, 0, math.MaxInt32)
	validateBounds(s, "runAsGroup", path, faults, 0, math.MaxInt32)
	validateProfile(rules.Nested(s, "seccompProfile"), path+".seccompProfile", faults)
	validateProfile(rules.Nested(s, "appArmorProfile"), path+".appArmorProfile", faults)
	if escalation, set := s["allowPrivilegeEscalation"].(bool); set && !escalation {
		if rules.Bool(s, "privileged") {
			faults.Invalid(path, s, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true")
		}
		for _, added := range rules.Strings(rules.Nested(s, "capabilities"), "add") {
			if added == "CAP_SYS_ADMIN" {
				faults.Invalid(path, s, "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN")
			}
		}
	}
}
