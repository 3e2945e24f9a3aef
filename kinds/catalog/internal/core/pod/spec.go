package pod

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/catalog/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/catalog/internal/scheduling"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validatePodSpec checks a PodSpec at path, of a Pod or of a template.
//
// Volumes and claims come first, because containers refer to them. What depends on one field alone is in the
// declarations; here is what depends on several.
func validatePodSpec(spec tree.Tree, path string, faults *schema.Faults) {
	parts := podReferences{
		volumes:     validateVolumes(spec, path+".volumes", faults),
		claims:      validateClaims(spec, path+".resourceClaims", faults),
		restartable: spec.String("restartPolicy") != "Never",
	}
	validateContainers(spec, path, parts, faults)
	validateFileKeys(spec, path, faults)
	resourcelist.ValidatePodRequirements(spec.Object("resources"), path+".resources", faults)
	validatePodLevel(spec, path+".resources", faults)
	validateClaimNames(spec.Object("resources"), path+".resources.claims", parts.claims, faults)
	if overhead := spec.Object("overhead"); len(overhead) > 0 {
		resourcelist.ValidateRequirements(tree.Tree{"limits": overhead}, path+".overhead", faults)
	}
	field.Enum(spec, "restartPolicy", path, faults, "Always", "OnFailure", "Never") // workloads report a closer choice, too
	validateDNS(spec, path, faults)
	validateGateNames(spec, path, faults)
	scheduling.ValidatePlacement(spec, path, faults)
	validatePodSecurity(spec.Object("securityContext"), path+".securityContext", faults)
	validateHostUsers(spec, path, faults)
	validateOS(spec, path, faults)
	field.Format(spec, "hostname", path, faults, rules.Label)
	field.Format(spec, "subdomain", path, faults, rules.Label)
	validateHostName(spec, path+".hostnameOverride", faults)
	if spec.Bool("hostPID") && spec.Bool("shareProcessNamespace") {
		faults.Invalid(path+".shareProcessNamespace", true, "ShareProcessNamespace and HostPID cannot both be enabled")
	}
}

// validateHostName keeps one who decides on the name of the host.
func validateHostName(spec tree.Tree, path string, faults *schema.Faults) {
	if _, set := spec["hostnameOverride"]; !set {
		return
	}
	for _, other := range [...]string{"setHostnameAsFQDN", "hostNetwork"} {
		if spec.Bool(other) {
			faults.Forbidden(path, "may not be specified when "+other+" is true")
		}
	}
}

// validateGateNames reports the gates themselves, not their names, as clients expect.
func validateGateNames(spec tree.Tree, path string, faults *schema.Faults) {
	seen := map[string]bool{}
	for i, g := range spec.Objects("schedulingGates") {
		at, name := tree.IndexPath(path+".schedulingGates", i), g.String("name")
		for _, msg := range rules.QualifiedName(name) {
			faults.Invalid(at, name, msg)
		}
		if seen[name] {
			faults.Duplicate(at, name)
		}
		seen[name] = true
	}
}

// Three name servers are what a resolver reads; more would be ignored without a word. Underscores in search domains
// are accepted, because such domains exist.
func validateDNS(spec tree.Tree, path string, faults *schema.Faults) {
	config := spec.Object("dnsConfig")
	at := path + ".dnsConfig"
	servers := config.Strings("nameservers")
	if config != nil && len(servers) == 0 && spec.String("dnsPolicy") == "None" {
		faults.Required(at+".nameservers", "must provide at least one DNS nameserver when `dnsPolicy` is None")
	}
	if len(servers) > 3 {
		faults.Invalid(at+".nameservers", config.List("nameservers"), "must not have more than 3 nameservers")
	}
	for i, o := range config.Objects("options") {
		if o.String("name") == "" {
			faults.Required(tree.IndexPath(at+".options", i), "must not be empty")
		}
	}
	for i, s := range config.Strings("searches") {
		if s == "." {
			continue
		}
		s = strings.TrimSuffix(s, ".")
		for _, msg := range rules.SubdomainWithUnderscores(s) {
			faults.Invalid(tree.IndexPath(at+".searches", i), s, msg)
		}
	}
}

// validatePodSecurity checks what applies to all containers.
func validatePodSecurity(s tree.Tree, path string, faults *schema.Faults) {
	validateProfile(s.Object("seccompProfile"), path+".seccompProfile", faults)
	validateAppArmorProfile(s.Object("appArmorProfile"), path+".appArmorProfile", faults)
	if s.Has("seLinuxChangePolicy") { // MountOption needs SELinuxMount, which is off
		field.Enum(s, "seLinuxChangePolicy", path, faults, "Recursive")
	}
	validateSysctls(s.Objects("sysctls"), path+".sysctls", faults)
}

// validateProfile checks a seccomp profile.
//
// The name of a profile means something for Localhost only, and one that is ignored would look like protection.
func validateProfile(p tree.Tree, path string, faults *schema.Faults) {
	at := path + ".localhostProfile"
	local, set := p["localhostProfile"].(string)
	switch isLocal := p.String("type") == "Localhost"; {
	case p == nil:
	case isLocal && !set:
		faults.Required(at, "must be set when seccomp type is Localhost")
	case isLocal:
		for _, msg := range rules.RelativePath(local) {
			faults.Invalid(at, local, msg)
		}
	case set:
		faults.Invalid(at, local, "can only be set when seccomp type is Localhost")
	}
}
