package catalog

import (
	"fmt"
	"math"
	"strings"

	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// validateContainers checks the three lists of containers. volumes are the names
// that mounts may refer to; container names are unique across the lists.
func validateContainers(spec schema.Tree, path string, volumes map[string]bool, faults *schema.Faults) {
	if len(rules.Items(spec, "containers")) == 0 {
		faults.Required(path + ".containers")
	}
	names, hostPorts := map[string]bool{}, map[string]bool{}
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for i, c := range rules.Trees(spec, list) {
			at := rules.At(path+"."+list, i)
			name := rules.Text(c, "name")
			switch {
			case name == "":
				faults.Required(at + ".name")
			case names[name]:
				faults.Duplicate(at+".name", name)
			}
			names[name] = true
			validateContainer(c, at, volumes, faults)
			validatePorts(c, at+".ports", rules.Flag(spec, "hostNetwork"), hostPorts, faults)
			switch list {
			case "initContainers":
				validateInit(c, at, faults)
			case "ephemeralContainers":
				validateEphemeral(c, at, faults)
			}
		}
	}
	for i, c := range rules.Trees(spec, "ephemeralContainers") {
		if target := rules.Text(c, "targetContainerName"); target != "" && !names[target] {
			faults.NotFound(rules.At(path+".ephemeralContainers", i)+".targetContainerName", target)
		}
	}
}

func validateContainer(c schema.Tree, path string, volumes map[string]bool, faults *schema.Faults) {
	formatted(c, "name", path, faults, rules.Label)
	image := rules.Text(c, "image")
	if image == "" {
		faults.Required(path + ".image")
	} else if strings.TrimSpace(image) != image {
		faults.Invalid(path+".image", image, "must not have leading or trailing whitespace")
	}
	choice(c, "terminationMessagePolicy", path, faults, "FallbackToLogsOnError", "File")
	choice(c, "imagePullPolicy", path, faults, "Always", "IfNotPresent", "Never")
	validateEnv(c, path, faults)
	validateMounts(c, path, volumes, faults)
	validateResources(rules.Sub(c, "resources"), path+".resources", faults)
	validateContainerSecurity(rules.Sub(c, "securityContext"), path+".securityContext", faults)
	for _, name := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		validateProbe(rules.Sub(c, name), path+"."+name, name != "readinessProbe", faults)
	}
	for _, name := range []string{"postStart", "preStop"} {
		if h := rules.Sub(c, "lifecycle", name); h != nil {
			validateHandler(h, path+".lifecycle."+name, faults, "exec", "httpGet", "tcpSocket", "sleep")
		}
	}
}

// validateInit checks what only init containers must heed: those that do not restart
// run once, so that nothing can probe them.
func validateInit(c schema.Tree, path string, faults *schema.Faults) {
	policy := rules.Text(c, "restartPolicy")
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

func validateEphemeral(c schema.Tree, path string, faults *schema.Faults) {
	for _, name := range []string{"ports", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "resources", "resizePolicy"} {
		if !rules.Empty(c[name]) {
			faults.Forbidden(path+"."+name, "cannot be set for an Ephemeral Container")
		}
	}
}

// validatePorts checks the ports of one container; hostPorts are those that earlier ones took.
func validatePorts(c schema.Tree, path string, hostNetwork bool, hostPorts map[string]bool, faults *schema.Faults) {
	names := map[string]bool{}
	for i, p := range rules.Trees(c, "ports") {
		at := rules.At(path, i)
		formatted(p, "name", at, faults, rules.PortName)
		if name := rules.Text(p, "name"); name != "" {
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
			faults.Invalid(at+".containerPort", port, betweenMsg(1, 65535))
		}
		choice(p, "protocol", at, faults, "SCTP", "TCP", "UDP")
		formatted(p, "hostIP", at, faults, rules.IP)
		if host == 0 {
			continue
		}
		if host < 1 || host > 65535 {
			faults.Invalid(at+".hostPort", host, betweenMsg(1, 65535))
		} else if hostNetwork && host != port {
			faults.Invalid(at+".containerPort", port, "must match `hostPort` when `hostNetwork` is true")
		}
		taken := fmt.Sprintf("%s/%s/%d", rules.Text(p, "protocol"), rules.Text(p, "hostIP"), host)
		if hostPorts[taken] {
			faults.Duplicate(at+".hostPort", taken)
		}
		hostPorts[taken] = true
	}
}

// validateMounts checks where volumes appear in a container.
func validateMounts(c schema.Tree, path string, volumes map[string]bool, faults *schema.Faults) {
	paths := map[string]bool{}
	for i, m := range rules.Trees(c, "volumeMounts") {
		at := rules.At(path+".volumeMounts", i)
		validatePlace(m, "mountPath", at, volumes, paths, faults)
		formatted(m, "subPath", at, faults, rules.RelativePath)
		formatted(m, "subPathExpr", at, faults, rules.RelativePath)
		if rules.Text(m, "subPath") != "" && rules.Text(m, "subPathExpr") != "" {
			faults.Invalid(at+".subPathExpr", rules.Text(m, "subPathExpr"), "subPathExpr and subPath are mutually exclusive")
		}
		optionalChoice(m, "mountPropagation", at, faults, "Bidirectional", "HostToContainer", "None")
		optionalChoice(m, "recursiveReadOnly", at, faults, "Disabled", "Enabled", "IfPossible")
	}
	for i, d := range rules.Trees(c, "volumeDevices") {
		at := rules.At(path+".volumeDevices", i)
		validatePlace(d, "devicePath", at, volumes, paths, faults)
		formatted(d, "devicePath", at, faults, rules.NoDotDot)
	}
}

// validatePlace checks which volume m is about, and the path of the container that field
// gives it; paths are those taken so far.
func validatePlace(m schema.Tree, field, at string, volumes, paths map[string]bool, faults *schema.Faults) {
	if name := rules.Text(m, "name"); name == "" {
		faults.Required(at + ".name")
	} else if !volumes[name] {
		faults.NotFound(at+".name", name)
	}
	place := rules.Text(m, field)
	if place == "" {
		faults.Required(at + "." + field)
	} else if paths[place] {
		faults.Invalid(at+"."+field, place, "must be unique")
	}
	paths[place] = true
}

// validateResources checks the names and amounts of what a container asks for and may use.
func validateResources(r schema.Tree, path string, faults *schema.Faults) {
	limits, requests := rules.Sub(r, "limits"), rules.Sub(r, "requests")
	for _, list := range []string{"limits", "requests"} {
		amounts := rules.Sub(r, list)
		for _, key := range rules.Keys(amounts) {
			at := rules.Key(path+"."+list, key)
			validateContainerResource(key, at, faults)
			validateAmount(amounts, key, at, faults)
		}
	}
	pages, computing := false, false
	for _, key := range append(rules.Keys(requests), rules.Keys(limits)...) {
		pages = pages || strings.HasPrefix(key, "hugepages-")
		computing = computing || key == "cpu" || key == "memory"
	}
	for _, key := range rules.Keys(requests) {
		limit, limited := limits[key].(string)
		validateRequest(key, rules.Text(requests, key), limit, limited, path, faults)
	}
	if pages && !computing {
		faults.Forbidden(path, "HugePages require cpu or memory")
	}
}

// validateRequest holds what is asked for against the limit, which it may not exceed, and
// equals where no more may be promised than there is.
func validateRequest(name, request, limit string, limited bool, path string, faults *schema.Faults) {
	switch {
	case !limited && !overcommitted(name):
		faults.Required(path+".limits", "Limit must be set for non overcommitable resources")
	case !limited:
	case !overcommitted(name) && quantity.Compare(request, limit) != 0:
		faults.Invalid(path+".requests", request, fmt.Sprintf("must be equal to %s limit of %s", name, limit))
	case quantity.Compare(request, limit) > 0:
		faults.Invalid(path+".requests", request, fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit))
	}
}

func standardResource(name string) bool {
	return name == "cpu" || name == "memory" || name == "ephemeral-storage" || strings.HasPrefix(name, "hugepages-")
}

func validateContainerSecurity(s schema.Tree, path string, faults *schema.Faults) {
	if s == nil {
		return
	}
	between(s, "runAsUser", path, faults, 0, math.MaxInt32)
	between(s, "runAsGroup", path, faults, 0, math.MaxInt32)
	optionalChoice(s, "procMount", path, faults, "Default", "Unmasked")
	validateProfile(rules.Sub(s, "seccompProfile"), path+".seccompProfile", faults)
	validateProfile(rules.Sub(s, "appArmorProfile"), path+".appArmorProfile", faults)
	if escalation, set := s["allowPrivilegeEscalation"].(bool); set && !escalation {
		if rules.Flag(s, "privileged") {
			faults.Invalid(path, s, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true")
		}
		for _, added := range rules.Texts(rules.Sub(s, "capabilities"), "add") {
			if added == "CAP_SYS_ADMIN" {
				faults.Invalid(path, s, "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN")
			}
		}
	}
}
