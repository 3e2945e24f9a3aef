package catalog

import (
	"math"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// validatePodSpec checks a PodSpec at path, of a Pod or of a template.
func validatePodSpec(spec schema.Tree, path string, faults *schema.Faults) {
	validateContainers(spec, path, podReferences{
		volumes:     validateVolumes(spec, path+".volumes", faults),
		claims:      validateClaims(spec, path+".resourceClaims", faults),
		restartable: rules.String(spec, "restartPolicy") != "Never",
	}, faults)
	validateResources(rules.Nested(spec, "resources"), path+".resources", faults)
	if os := rules.Nested(spec, "os"); os != nil {
		validateEnum(os, "name", path+".os", faults, "linux", "windows")
	}
	validateEnum(spec, "restartPolicy", path, faults, "Always", "Never", "OnFailure")
	validateDNS(spec, path, faults)
	validatePodNames(spec, path, faults)
	validatePlacement(spec, path, faults)
	validatePodSecurity(rules.Nested(spec, "securityContext"), path+".securityContext", faults)
	if rules.Bool(spec, "hostPID") && rules.Bool(spec, "shareProcessNamespace") {
		faults.Invalid(path+".shareProcessNamespace", true, "ShareProcessNamespace and HostPID cannot both be enabled")
	}
}

// validateEnum checks a text that is one of a few; an absent one is Required.
func validateEnum(t schema.Tree, name, path string, faults *schema.Faults, choices ...string) {
	path = rules.FieldPath(path, name)
	switch s := rules.String(t, name); {
	case s == "":
		faults.Required(path)
	case !slices.Contains(choices, s):
		faults.NotSupported(path, s, choices)
	}
}

// validateOptionalEnum is choice for a text that may be absent.
func validateOptionalEnum(t schema.Tree, name, path string, faults *schema.Faults, choices ...string) {
	if rules.String(t, name) != "" {
		validateEnum(t, name, path, faults, choices...)
	}
}

// requireFields reports the named texts that are absent or "".
func requireFields(t schema.Tree, path string, faults *schema.Faults, names ...string) {
	for _, name := range names {
		if rules.Empty(t[name]) {
			faults.Required(rules.FieldPath(path, name))
		}
	}
}

// validateFormat checks a text, if there is one, by a format of package rules.
func validateFormat(t schema.Tree, name, path string, faults *schema.Faults, check func(string) []string) {
	s := rules.String(t, name)
	if s == "" {
		return
	}
	for _, msg := range check(s) {
		faults.Invalid(rules.FieldPath(path, name), s, msg)
	}
}

// validateBounds checks a number, if there is one, against inclusive bounds.
func validateBounds(t schema.Tree, name, path string, faults *schema.Faults, low, high int64) {
	if n, ok := rules.Int(t, name); ok && (n < low || n > high) {
		faults.Invalid(rules.FieldPath(path, name), n, boundsMsg(low, high))
	}
}

// validateNonNegative checks numbers, where they are given.
func validateNonNegative(t schema.Tree, path string, faults *schema.Faults, names ...string) {
	for _, name := range names {
		if n, ok := rules.Int(t, name); ok && n < 0 {
			faults.Invalid(rules.FieldPath(path, name), n, nonNegativeMsg)
		}
	}
}

func validatePodNames(spec schema.Tree, path string, faults *schema.Faults) {
	for i, ref := range rules.Trees(spec, "imagePullSecrets") {
		requireFields(ref, rules.IndexPath(path+".imagePullSecrets", i), faults, "name")
	}
	for i, a := range rules.Trees(spec, "hostAliases") {
		at := rules.IndexPath(path+".hostAliases", i)
		for _, msg := range rules.IP(rules.String(a, "ip")) {
			faults.Invalid(at+".ip", rules.String(a, "ip"), msg)
		}
		for j, name := range rules.Strings(a, "hostnames") {
			for _, msg := range rules.Subdomain(name) {
				faults.Invalid(rules.IndexPath(at+".hostnames", j), name, msg)
			}
		}
	}
	for i, g := range rules.Trees(spec, "readinessGates") {
		name := rules.String(g, "conditionType")
		for _, msg := range rules.QualifiedName(name) {
			faults.Invalid(rules.IndexPath(path+".readinessGates", i)+".conditionType", name, msg)
		}
	}
	seen := map[string]bool{}
	for i, g := range rules.Trees(spec, "schedulingGates") {
		at, name := rules.IndexPath(path+".schedulingGates", i), rules.String(g, "name")
		for _, msg := range rules.QualifiedName(name) {
			faults.Invalid(at, name, msg)
		}
		if seen[name] {
			faults.Duplicate(at, name)
		}
		seen[name] = true
	}
}

func validateDNS(spec schema.Tree, path string, faults *schema.Faults) {
	config := rules.Nested(spec, "dnsConfig")
	at := path + ".dnsConfig"
	servers := rules.Strings(config, "nameservers")
	if rules.String(spec, "dnsPolicy") == "None" {
		if config == nil {
			faults.Required(at, "must provide `dnsConfig` when `dnsPolicy` is None")
			return
		}
		if len(servers) == 0 {
			faults.Required(at+".nameservers", "must provide at least one DNS nameserver when `dnsPolicy` is None")
		}
	}
	if len(servers) > 3 {
		faults.Invalid(at+".nameservers", rules.Items(config, "nameservers"), "must not have more than 3 nameservers")
	}
	for i, s := range servers {
		for _, msg := range rules.IP(s) {
			faults.Invalid(rules.IndexPath(at+".nameservers", i), s, msg)
		}
	}
	for i, s := range rules.Strings(config, "searches") {
		if s = strings.TrimSuffix(s, "."); s != "" {
			for _, msg := range rules.Subdomain(strings.ReplaceAll(s, "_", "-")) {
				faults.Invalid(rules.IndexPath(at+".searches", i), s, msg)
			}
		}
	}
	for i, o := range rules.Trees(config, "options") {
		requireFields(o, rules.IndexPath(at+".options", i), faults, "name")
	}
}

// validatePodSecurity checks the ids of users and groups that apply to all containers.
func validatePodSecurity(s schema.Tree, path string, faults *schema.Faults) {
	for _, name := range []string{"runAsUser", "runAsGroup", "fsGroup"} {
		validateBounds(s, name, path, faults, 0, math.MaxInt32)
	}
	for i, v := range rules.Items(s, "supplementalGroups") {
		if n, _ := v.(int64); n < 0 || n > math.MaxInt32 {
			faults.Invalid(rules.IndexPath(path+".supplementalGroups", i), n, boundsMsg(0, math.MaxInt32))
		}
	}
	for i, c := range rules.Trees(s, "sysctls") {
		requireFields(c, rules.IndexPath(path+".sysctls", i), faults, "name")
	}
	validateProfile(rules.Nested(s, "seccompProfile"), path+".seccompProfile", faults)
	validateProfile(rules.Nested(s, "appArmorProfile"), path+".appArmorProfile", faults)
}

// validateProfile checks a seccomp or AppArmor profile.
func validateProfile(p schema.Tree, path string, faults *schema.Faults) {
	if p == nil {
		return
	}
	requireFields(p, path, faults, "type")
	local := rules.String(p, "localhostProfile")
	switch isLocal := rules.String(p, "type") == "Localhost"; {
	case isLocal && local == "":
		faults.Required(path+".localhostProfile", "must be set when type is Localhost")
	case !isLocal && local != "":
		faults.Invalid(path+".localhostProfile", local, "can only be set when type is Localhost")
	}
}
