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
	validateContainers(spec, path, podParts{
		volumes:  validateVolumes(spec, path+".volumes", faults),
		claims:   validateClaims(spec, path+".resourceClaims", faults),
		restarts: rules.Text(spec, "restartPolicy") != "Never",
	}, faults)
	validateResources(rules.Sub(spec, "resources"), path+".resources", faults)
	if os := rules.Sub(spec, "os"); os != nil {
		choice(os, "name", path+".os", faults, "linux", "windows")
	}
	choice(spec, "restartPolicy", path, faults, "Always", "Never", "OnFailure")
	validateDNS(spec, path, faults)
	validatePodNames(spec, path, faults)
	validatePlacement(spec, path, faults)
	validatePodSecurity(rules.Sub(spec, "securityContext"), path+".securityContext", faults)
	if rules.Flag(spec, "hostPID") && rules.Flag(spec, "shareProcessNamespace") {
		faults.Invalid(path+".shareProcessNamespace", true, "ShareProcessNamespace and HostPID cannot both be enabled")
	}
}

// choice checks a text that is one of a few; an absent one is Required.
func choice(t schema.Tree, name, path string, faults *schema.Faults, choices ...string) {
	path = rules.Join(path, name)
	switch s := rules.Text(t, name); {
	case s == "":
		faults.Required(path)
	case !slices.Contains(choices, s):
		faults.NotSupported(path, s, choices)
	}
}

// optionalChoice is choice for a text that may be absent.
func optionalChoice(t schema.Tree, name, path string, faults *schema.Faults, choices ...string) {
	if rules.Text(t, name) != "" {
		choice(t, name, path, faults, choices...)
	}
}

// required reports the named texts that are absent or "".
func required(t schema.Tree, path string, faults *schema.Faults, names ...string) {
	for _, name := range names {
		if rules.Empty(t[name]) {
			faults.Required(rules.Join(path, name))
		}
	}
}

// formatted checks a text, if there is one, by a format of package rules.
func formatted(t schema.Tree, name, path string, faults *schema.Faults, check func(string) []string) {
	s := rules.Text(t, name)
	if s == "" {
		return
	}
	for _, msg := range check(s) {
		faults.Invalid(rules.Join(path, name), s, msg)
	}
}

// between checks a number, if there is one, against inclusive bounds.
func between(t schema.Tree, name, path string, faults *schema.Faults, low, high int64) {
	if n, ok := rules.Int(t, name); ok && (n < low || n > high) {
		faults.Invalid(rules.Join(path, name), n, betweenMsg(low, high))
	}
}

// notNegative checks numbers, where they are given.
func notNegative(t schema.Tree, path string, faults *schema.Faults, names ...string) {
	for _, name := range names {
		if n, ok := rules.Int(t, name); ok && n < 0 {
			faults.Invalid(rules.Join(path, name), n, notNegativeMsg)
		}
	}
}

func validatePodNames(spec schema.Tree, path string, faults *schema.Faults) {
	for i, ref := range rules.Trees(spec, "imagePullSecrets") {
		required(ref, rules.At(path+".imagePullSecrets", i), faults, "name")
	}
	for i, a := range rules.Trees(spec, "hostAliases") {
		at := rules.At(path+".hostAliases", i)
		for _, msg := range rules.IP(rules.Text(a, "ip")) {
			faults.Invalid(at+".ip", rules.Text(a, "ip"), msg)
		}
		for j, name := range rules.Texts(a, "hostnames") {
			for _, msg := range rules.Subdomain(name) {
				faults.Invalid(rules.At(at+".hostnames", j), name, msg)
			}
		}
	}
	for i, g := range rules.Trees(spec, "readinessGates") {
		name := rules.Text(g, "conditionType")
		for _, msg := range rules.QualifiedName(name) {
			faults.Invalid(rules.At(path+".readinessGates", i)+".conditionType", name, msg)
		}
	}
	seen := map[string]bool{}
	for i, g := range rules.Trees(spec, "schedulingGates") {
		at, name := rules.At(path+".schedulingGates", i), rules.Text(g, "name")
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
	config := rules.Sub(spec, "dnsConfig")
	at := path + ".dnsConfig"
	servers := rules.Texts(config, "nameservers")
	if rules.Text(spec, "dnsPolicy") == "None" {
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
			faults.Invalid(rules.At(at+".nameservers", i), s, msg)
		}
	}
	for i, s := range rules.Texts(config, "searches") {
		if s = strings.TrimSuffix(s, "."); s != "" {
			for _, msg := range rules.Subdomain(strings.ReplaceAll(s, "_", "-")) {
				faults.Invalid(rules.At(at+".searches", i), s, msg)
			}
		}
	}
	for i, o := range rules.Trees(config, "options") {
		required(o, rules.At(at+".options", i), faults, "name")
	}
}

// validatePodSecurity checks the ids of users and groups that apply to all containers.
func validatePodSecurity(s schema.Tree, path string, faults *schema.Faults) {
	for _, name := range []string{"runAsUser", "runAsGroup", "fsGroup"} {
		between(s, name, path, faults, 0, math.MaxInt32)
	}
	for i, v := range rules.Items(s, "supplementalGroups") {
		if n, _ := v.(int64); n < 0 || n > math.MaxInt32 {
			faults.Invalid(rules.At(path+".supplementalGroups", i), n, betweenMsg(0, math.MaxInt32))
		}
	}
	for i, c := range rules.Trees(s, "sysctls") {
		required(c, rules.At(path+".sysctls", i), faults, "name")
	}
	validateProfile(rules.Sub(s, "seccompProfile"), path+".seccompProfile", faults)
	validateProfile(rules.Sub(s, "appArmorProfile"), path+".appArmorProfile", faults)
}

// validateProfile checks a seccomp or AppArmor profile.
func validateProfile(p schema.Tree, path string, faults *schema.Faults) {
	if p == nil {
		return
	}
	required(p, path, faults, "type")
	local := rules.Text(p, "localhostProfile")
	switch isLocal := rules.Text(p, "type") == "Localhost"; {
	case isLocal && local == "":
		faults.Required(path+".localhostProfile", "must be set when type is Localhost")
	case !isLocal && local != "":
		faults.Invalid(path+".localhostProfile", local, "can only be set when type is Localhost")
	}
}
