package pod

import (
	"math"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/catalog/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/catalog/internal/scheduling"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validatePodSpec checks a PodSpec at path, of a Pod or of a template.
func validatePodSpec(spec tree.Tree, path string, faults *schema.Faults) {
	validateContainers(spec, path, podReferences{
		volumes:     validateVolumes(spec, path+".volumes", faults),
		claims:      validateClaims(spec, path+".resourceClaims", faults),
		restartable: spec.String("restartPolicy") != "Never",
	}, faults)
	resourcelist.ValidateRequirements(spec.Object("resources"), path+".resources", faults)
	if os := spec.Object("os"); os != nil {
		field.Enum(os, "name", path+".os", faults, "linux", "windows")
	}
	field.Enum(spec, "restartPolicy", path, faults, "Always", "Never", "OnFailure")
	validateDNS(spec, path, faults)
	validatePodNames(spec, path, faults)
	scheduling.ValidatePlacement(spec, path, faults)
	validatePodSecurity(spec.Object("securityContext"), path+".securityContext", faults)
	if spec.Bool("hostPID") && spec.Bool("shareProcessNamespace") {
		faults.Invalid(path+".shareProcessNamespace", true, "ShareProcessNamespace and HostPID cannot both be enabled")
	}
}

func validatePodNames(spec tree.Tree, path string, faults *schema.Faults) {
	for i, ref := range spec.Objects("imagePullSecrets") {
		field.Require(ref, tree.IndexPath(path+".imagePullSecrets", i), faults, "name")
	}
	for i, a := range spec.Objects("hostAliases") {
		at := tree.IndexPath(path+".hostAliases", i)
		for _, msg := range rules.IP(a.String("ip")) {
			faults.Invalid(at+".ip", a.String("ip"), msg)
		}
		for j, name := range a.Strings("hostnames") {
			for _, msg := range rules.Subdomain(name) {
				faults.Invalid(tree.IndexPath(at+".hostnames", j), name, msg)
			}
		}
	}
	for i, g := range spec.Objects("readinessGates") {
		name := g.String("conditionType")
		for _, msg := range rules.QualifiedName(name) {
			faults.Invalid(tree.IndexPath(path+".readinessGates", i)+".conditionType", name, msg)
		}
	}
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

func validateDNS(spec tree.Tree, path string, faults *schema.Faults) {
	config := spec.Object("dnsConfig")
	at := path + ".dnsConfig"
	servers := config.Strings("nameservers")
	if spec.String("dnsPolicy") == "None" {
		if config == nil {
			faults.Required(at, "must provide `dnsConfig` when `dnsPolicy` is None")
			return
		}
		if len(servers) == 0 {
			faults.Required(at+".nameservers", "must provide at least one DNS nameserver when `dnsPolicy` is None")
		}
	}
	if len(servers) > 3 {
		faults.Invalid(at+".nameservers", config.List("nameservers"), "must not have more than 3 nameservers")
	}
	for i, s := range servers {
		for _, msg := range rules.IP(s) {
			faults.Invalid(tree.IndexPath(at+".nameservers", i), s, msg)
		}
	}
	for i, s := range config.Strings("searches") {
		if s = strings.TrimSuffix(s, "."); s != "" {
			for _, msg := range rules.Subdomain(strings.ReplaceAll(s, "_", "-")) {
				faults.Invalid(tree.IndexPath(at+".searches", i), s, msg)
			}
		}
	}
	for i, o := range config.Objects("options") {
		field.Require(o, tree.IndexPath(at+".options", i), faults, "name")
	}
}

// validatePodSecurity checks the ids of users and groups that apply to all containers.
func validatePodSecurity(s tree.Tree, path string, faults *schema.Faults) {
	for _, name := range []string{"runAsUser", "runAsGroup", "fsGroup"} {
		field.Bounds(s, name, path, faults, 0, math.MaxInt32)
	}
	for i, v := range s.List("supplementalGroups") {
		if n, _ := v.(int64); n < 0 || n > math.MaxInt32 {
			faults.Invalid(tree.IndexPath(path+".supplementalGroups", i), n, field.BoundsMsg(0, math.MaxInt32))
		}
	}
	for i, c := range s.Objects("sysctls") {
		field.Require(c, tree.IndexPath(path+".sysctls", i), faults, "name")
	}
	validateProfile(s.Object("seccompProfile"), path+".seccompProfile", faults)
	validateProfile(s.Object("appArmorProfile"), path+".appArmorProfile", faults)
}

// validateProfile checks a seccomp or AppArmor profile.
func validateProfile(p tree.Tree, path string, faults *schema.Faults) {
	if p == nil {
		return
	}
	field.Require(p, path, faults, "type")
	local := p.String("localhostProfile")
	switch isLocal := p.String("type") == "Localhost"; {
	case isLocal && local == "":
		faults.Required(path+".localhostProfile", "must be set when type is Localhost")
	case !isLocal && local != "":
		faults.Invalid(path+".localhostProfile", local, "can only be set when type is Localhost")
	}
}
