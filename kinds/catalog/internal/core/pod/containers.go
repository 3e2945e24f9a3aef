package pod

import (
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/catalog/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateContainers checks containers, init containers and ephemeral containers, whose names are
// unique across the three lists. parts holds what they may refer to.
//
// Names are what logs, probes and sub-resources refer to, so that they must be unique in the Pod and not only in
// their list. Targets of ephemeral containers are looked at last, when all names are known.
func validateContainers(spec tree.Tree, path string, parts podReferences, faults *schema.Faults) {
	names := map[string]bool{}
	hostPorts := map[string]bool{} // of the containers together, which run at the same time; of each other one alone
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for i, c := range spec.Objects(list) {
			at := tree.IndexPath(path+"."+list, i)
			name := c.String("name")
			if names[name] && name != "" {
				faults.Duplicate(at+".name", name)
			}
			names[name] = true
			if list != "containers" {
				clear(hostPorts)
			}
			validateContainer(c, at, parts, faults)
			validateContainerPorts(c, at+".ports", spec.Bool("hostNetwork"), hostPorts, faults)
			if list == "containers" || c.String("restartPolicy") == "Always" {
				validateSleep(c.Object("lifecycle"), at+".lifecycle", spec, faults)
			}
			switch list {
			case "containers":
				validateRestarts(c, at, faults)
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

// validateContainer checks what all containers have in common; what may be in it depends on the volumes and claims of
// the Pod (parts).
func validateContainer(c tree.Tree, path string, parts podReferences, faults *schema.Faults) {
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
		validateHeaders(c.Object("lifecycle", name, "httpGet"), path+".lifecycle."+name+".httpGet", faults)
	}
}

// validateSleep checks that a container does not sleep longer before it is stopped than its Pod has time to stop.
func validateSleep(lifecycle tree.Tree, path string, spec tree.Tree, faults *schema.Faults) {
	grace, ok := spec.Int("terminationGracePeriodSeconds")
	if !ok {
		return
	}
	for _, name := range []string{"postStart", "preStop"} {
		if sleep := lifecycle.Object(name, "sleep"); sleep != nil {
			if seconds, _ := sleep.Int("seconds"); seconds < 0 || seconds > grace {
				faults.Invalid(path+"."+name+".sleep", seconds, fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", grace))
			}
		}
	}
}

// validateInitContainer refuses probes and lifecycle handlers of init containers that run once.
//
// One that runs once is over before anybody could probe it. With restartPolicy Always it runs beside the others, and
// has all that they have.
func validateInitContainer(c tree.Tree, path string, faults *schema.Faults) {
	if c.String("restartPolicy") == "Always" {
		if len(c.List("restartPolicyRules")) > 0 {
			faults.Forbidden(path+".restartPolicyRules", "restartPolicyRules are not allowed for init containers with restart policy Always")
		}
		return
	}
	validateRestarts(c, path, faults)
	for _, name := range []string{"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"} {
		if c.Has(name) {
			faults.Forbidden(path+"."+name, "may not be set for init containers without restartPolicy=Always")
		}
	}
}

// validateRestarts checks when a container restarts, whatever its Pod does: by its own policy, and by the code with which it has ended.
func validateRestarts(c tree.Tree, path string, faults *schema.Faults) {
	rules := c.Objects("restartPolicyRules")
	switch policy := c.String("restartPolicy"); {
	case c.Has("restartPolicy"):
		if !slices.Contains(restartPolicies, policy) {
			faults.NotSupported(path+".restartPolicy", policy, restartPolicies)
		}
	case len(rules) > 0:
		faults.Required(path+".restartPolicy", "must specify restartPolicy when restart rules are used")
	}
	if len(rules) > maxRestartRules {
		faults.TooLong(path+".restartPolicyRules", maxRestartRules)
	}
	for i, rule := range rules {
		at := tree.IndexPath(path+".restartPolicyRules", i)
		if action := rule.String("action"); action != "Restart" {
			faults.NotSupported(at+".action", action, []string{"Restart"})
		}
		codes := rule.Object("exitCodes")
		if codes == nil {
			faults.Required(at+".exitCodes", "must be specified")
			continue
		}
		if operator := codes.String("operator"); operator != "In" && operator != "NotIn" {
			faults.NotSupported(at+".exitCodes.operator", operator, []string{"In", "NotIn"})
		}
		if n := len(codes.List("values")); n > maxExitCodes {
			faults.TooLong(at+".exitCodes.values", maxExitCodes)
		}
	}
}

var restartPolicies = []string{"Always", "Never", "OnFailure"}

const (
	maxRestartRules = 20
	maxExitCodes    = 255 // in one rule
)

// It is added to a running Pod for a look inside. Its node has set aside nothing for it, so that it may ask for
// nothing that would have to be planned.
func validateEphemeralContainer(c tree.Tree, path string, faults *schema.Faults) {
	for _, name := range []string{"ports", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules"} {
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
//
// A port of the host can be taken once for each address and protocol. In the network of the host both numbers are the
// same port.
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
		if host == 0 {
			continue
		}
		if hostNetwork && host != port {
			faults.Invalid(at+".hostPort", host, "must match `containerPort` when `hostNetwork` is true")
		}
		taken := fmt.Sprintf("%s/%s/%d", p.String("protocol"), p.String("hostIP"), host)
		if hostPorts[taken] {
			faults.Duplicate(at+".hostPort", taken)
		}
		hostPorts[taken] = true
	}
}

// A privileged container can gain rights whatever the other field says; to accept both would promise what nobody can
// keep.
func validateContainerSecurity(s tree.Tree, path string, faults *schema.Faults) {
	validateProfile(s.Object("seccompProfile"), path+".seccompProfile", faults)
	validateAppArmorProfile(s.Object("appArmorProfile"), path+".appArmorProfile", faults)
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
