package pod

import (
	"fmt"
	"math"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/catalog/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateContainers checks containers, init containers and ephemeral containers, whose names are
// unique across the three lists. parts holds what they may refer to.
func validateContainers(spec tree.Tree, path string, parts podReferences, faults *schema.Faults) {
	names, hostPorts := map[string]bool{}, map[string]bool{}
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for i, c := range spec.Objects(list) {
			at := tree.IndexPath(path+"."+list, i)
			name := c.String("name")
			if names[name] && name != "" {
				faults.Duplicate(at+".name", name)
			}
			names[name] = true
			validateContainer(c, at, parts, faults)
			validateContainerPorts(c, at+".ports", spec.Bool("hostNetwork"), hostPorts, faults)
			switch list {
			case "initContainers":
				validateInitContainer(c, at, faults)
			case "ephemeralContainers":
				validateEphemeralContainer(c, at, faults)
			}
		}
	}
	for i, c := range spec.Objects("ephemeralContainers") {
		if target := c.String("targetContainerName"); target != "" && !names[target] {
			faults.NotFound(tree.IndexPath(path+".ephemeralContainers", i)+".targetContainerName", target)
		}
	}
}

func validateContainer(c tree.Tree, path string, parts podReferences, faults *schema.Faults) {
	image := c.String("image")
	if image == "" {
		faults.Required(path + ".image")
	} else if strings.TrimSpace(image) != image {
		faults.Invalid(path+".image", image, "must not have leading or trailing whitespace")
	}
	validateEnv(c, path, faults)
	validateMounts(c, path+".volumeMounts", parts.volumes, faults)
	validateDevicePaths(c, path+".volumeDevices", parts.volumes, faults)
	resourcelist.ValidateRequirements(c.Object("resources"), path+".resources", faults)
	validateClaimNames(c.Object("resources"), path+".resources.claims", parts.claims, faults)
	validateResizePolicy(c, path+".resizePolicy", parts.restartable, faults)
	validateContainerSecurity(c.Object("securityContext"), path+".securityContext", faults)
	for _, name := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		validateProbe(c.Object(name), path+"."+name, name != "readinessProbe", faults)
	}
	for _, name := range []string{"postStart", "preStop"} {
		if h := c.Object("lifecycle", name); h != nil {
			validateHandler(h, path+".lifecycle."+name, faults, "exec", "httpGet", "tcpSocket", "sleep")
		}
	}
}

// validateInitContainer refuses probes and lifecycle handlers of init containers that run once.
func validateInitContainer(c tree.Tree, path string, faults *schema.Faults) {
	policy := c.String("restartPolicy")
	if policy != "" && policy != "Always" {
		faults.NotSupported(path+".restartPolicy", policy, []string{"Always"})
	}
	if policy == "Always" {
		return
	}
	for _, name := range []string{"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"} {
		if c.Has(name) {
			faults.Forbidden(path+"."+name, "may not be set for init containers without restartPolicy=Always")
		}
	}
}

func validateEphemeralContainer(c tree.Tree, path string, faults *schema.Faults) {
	for _, name := range []string{"ports", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "resources", "resizePolicy"} {
		if !tree.IsEmpty(c[name]) {
			faults.Forbidden(path+"."+name, "cannot be set for an Ephemeral Container")
		}
	}
	for i, m := range c.Objects("volumeMounts") {
		for _, name := range []string{"subPath", "subPathExpr"} {
			if m.String(name) != "" {
				faults.Forbidden(tree.IndexPath(path+".volumeMounts", i)+"."+name, "cannot be set for an Ephemeral Container")
			}
		}
	}
}

// validateContainerPorts checks the ports of one container; hostPorts are those that earlier ones took.
func validateContainerPorts(c tree.Tree, path string, hostNetwork bool, hostPorts map[string]bool, faults *schema.Faults) {
	names := map[string]bool{}
	for i, p := range c.Objects("ports") {
		at := tree.IndexPath(path, i)
		if name := p.String("name"); name != "" {
			if names[name] {
				faults.Duplicate(at+".name", name)
			}
			names[name] = true
		}
		port, _ := p.Int("containerPort")
		host, _ := p.Int("hostPort")
		if port == 0 {
			faults.Required(at + ".containerPort")
		} else if port < 1 || port > 65535 {
			faults.Invalid(at+".containerPort", port, field.BoundsMsg(1, 65535))
		}
		field.Format(p, "hostIP", at, faults, rules.IP)
		if host == 0 {
			continue
		}
		if host < 1 || host > 65535 {
			faults.Invalid(at+".hostPort", host, field.BoundsMsg(1, 65535))
		} else if hostNetwork && host != port {
			faults.Invalid(at+".containerPort", port, "must match `hostPort` when `hostNetwork` is true")
		}
		taken := fmt.Sprintf("%s/%s/%d", p.String("protocol"), p.String("hostIP"), host)
		if hostPorts[taken] {
			faults.Duplicate(at+".hostPort", taken)
		}
		hostPorts[taken] = true
	}
}

func validateContainerSecurity(s tree.Tree, path string, faults *schema.Faults) {
	if s == nil {
		return
	}
	field.Bounds(s, "runAsUser", path, faults, 0, math.MaxInt32)
	field.Bounds(s, "runAsGroup", path, faults, 0, math.MaxInt32)
	validateProfile(s.Object("seccompProfile"), path+".seccompProfile", faults)
	validateProfile(s.Object("appArmorProfile"), path+".appArmorProfile", faults)
	if escalation, set := s["allowPrivilegeEscalation"].(bool); set && !escalation {
		if s.Bool("privileged") {
			faults.Invalid(path, s, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true")
		}
		for _, added := range s.Object("capabilities").Strings("add") {
			if added == "CAP_SYS_ADMIN" {
				faults.Invalid(path, s, "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN")
			}
		}
	}
}
