package pod

import (
	"cmp"

	"github.com/troupe-api/troupe/kinds/catalog/internal/authentication"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// projections are the sources of a projected volume.
var projections = []string{"clusterTrustBundle", "configMap", "downwardAPI", "podCertificate", "secret", "serviceAccountToken"}

// validateProjected checks a volume that projects several sources into one directory: no two of them may
// have the same path. A source without content is warned of (warnProjected).
func validateProjected(s tree.Tree, path string, faults *schema.Faults) {
	taken := map[string]bool{}
	for i, source := range s.Objects("sources") {
		at, count := tree.IndexPath(path+".sources", i), 0
		for _, name := range projections {
			if p := source.Object(name); p != nil {
				count++
				validateProjection(name, p, path, at+"."+name, faults)
				validateFiles(name, p, path, taken, faults)
			}
		}
		if count > 1 {
			faults.Forbidden(at, "may not specify more than 1 volume type per source")
		}
	}
}

// validateProjection checks what one source of the volume at path asks for; most formats of its paths are in the
// declarations. A trust bundle is chosen by its name or as all of a signer's.
func validateProjection(name string, p tree.Tree, path, at string, faults *schema.Faults) {
	switch name {
	case "downwardAPI":
		validateDownwardAPI(p, at, faults)
	case "serviceAccountToken":
		authentication.ValidateTokenSeconds(p, at, faults)
		field.Require(p, path, faults, "path")
		field.Format(p, "path", path, faults, rules.LocalPath)
	case "clusterTrustBundle":
		if (p.String("name") == "") == (p.String("signerName") == "") {
			faults.Invalid(at, p, "exactly one of name or signerName must be set")
		}
	}
}

// validateTokens refuses tokens of a Pod that has no service account: they would have no subject. Admission fills the
// account in before this is checked, which it does for Pods, not for templates.
func validateTokens(spec tree.Tree, faults *schema.Faults) {
	if spec.String("serviceAccountName") != "" {
		return
	}
	for i, v := range spec.Objects("volumes") {
		at := tree.IndexPath("spec.volumes", i) + ".projected.sources"
		for j, source := range v.Object("projected").Objects("sources") {
			if source.Has("serviceAccountToken") {
				faults.Forbidden(tree.IndexPath(at, j)+".serviceAccountToken", "must not be specified when serviceAccountName is not set")
			}
		}
	}
}

// validateFiles reports the paths of a projection that an earlier one uses already.
//
// The later one would replace the earlier file, and which is later is not for a Pod to rely on. The path of the fault is
// that of the volume, as clients know it.
func validateFiles(name string, p tree.Tree, path string, taken map[string]bool, faults *schema.Faults) {
	files := []string{p.String("path")}
	if name == "configMap" || name == "secret" || name == "downwardAPI" {
		files = nil
		for _, item := range p.Objects("items") {
			files = append(files, item.String("path"))
		}
	}
	for _, file := range files {
		if file != "" && taken[file] {
			faults.Invalid(path, cmp.Or(p.String("name"), file), "conflicting duplicate paths")
		}
		taken[file] = true
	}
}
