package pod

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/authentication"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// projections are the sources of a projected volume. Of several, which is a fault, the first counts.
var projections = []string{"clusterTrustBundle", "configMap", "downwardAPI", "podCertificate", "secret", "serviceAccountToken"}

// validateProjected checks a volume that projects several sources into one directory: no two of them may
// have the same path. A source without content is warned of (warnProjected). spec is that of the Pod, for
// what a source depends on.
func validateProjected(spec, s tree.Tree, path string, faults *schema.Faults) {
	taken := map[string]bool{}
	for i, source := range s.Objects("sources") {
		at := tree.IndexPath(path+".sources", i)
		for _, name := range projections {
			if p := source.Object(name); p != nil {
				validateProjection(spec, name, p, at+"."+name, faults)
				validateFiles(name, p, at+"."+name, taken, faults)
				break
			}
		}
	}
}

// validateProjection checks what one source asks for; the formats of its paths are in the declarations. A
// trust bundle is chosen by its name or as all of a signer's.
func validateProjection(spec tree.Tree, name string, p tree.Tree, path string, faults *schema.Faults) {
	switch name {
	case "downwardAPI":
		validateDownwardAPI(p, path, faults)
	case "serviceAccountToken":
		validateToken(spec, p, path, faults)
	case "clusterTrustBundle":
		if (p.String("name") == "") == (p.String("signerName") == "") {
			faults.Invalid(path, p, "exactly one of name or signerName must be set")
		}
	}
}

// validateToken checks the projection of a token of the Pod's service account.
//
// A token without an account would have no subject. Admission fills the account in before this is checked.
func validateToken(spec, p tree.Tree, path string, faults *schema.Faults) {
	if spec.String("serviceAccountName") == "" {
		faults.Forbidden(path, "must not be specified when serviceAccountName is not set")
	}
	authentication.ValidateTokenSeconds(p, path, faults)
}

// validateFiles reports the paths of a projection that an earlier one uses already.
//
// The later one would replace the earlier file, and which is later is not for a Pod to rely on.
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
			faults.Invalid(path, p.String("name"), "conflicting duplicate paths")
		}
		taken[file] = true
	}
}
