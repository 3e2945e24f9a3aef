package pod

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/authentication"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// projections are the sources of a projected volume.
var projections = []string{"clusterTrustBundle", "configMap", "downwardAPI", "podCertificate", "secret", "serviceAccountToken"}

// validateProjected checks a volume that projects several sources into one directory: no two of them
// may have the same path.
func validateProjected(spec, s tree.Tree, path string, faults *schema.Faults) {
	validateFileMode(s, "defaultMode", path, faults)
	taken := map[string]bool{}
	for i, source := range s.Objects("sources") {
		at := tree.IndexPath(path+".sources", i)
		n := 0
		for _, name := range projections {
			p := source.Object(name)
			if p == nil {
				continue
			}
			if n++; n > 1 {
				faults.Forbidden(at+"."+name, "may not specify more than 1 volume type per source")
				continue
			}
			validateProjection(spec, name, p, at+"."+name, faults)
			validateFiles(name, p, at+"."+name, taken, faults)
		}
		if n == 0 {
			faults.Required(at, "must specify a volume type per source")
		}
	}
}

func validateProjection(spec tree.Tree, name string, p tree.Tree, path string, faults *schema.Faults) {
	switch name {
	case "configMap", "secret":
		field.Require(p, path, faults, "name")
		validateKeyPaths(p, path, faults)
	case "downwardAPI":
		validateDownwardAPI(p, path, faults)
	case "serviceAccountToken":
		validateToken(spec, p, path, faults)
	case "clusterTrustBundle":
		field.Require(p, path, faults, "path")
		field.Format(p, "path", path, faults, validateLocalPath)
		if (p.String("name") == "") == (p.String("signerName") == "") {
			faults.Invalid(path, p, "exactly one of name or signerName must be set")
		}
	case "podCertificate":
		field.Require(p, path, faults, "signerName", "keyType")
	}
}

// validateToken checks the projection of a token of the Pod's service account.
func validateToken(spec, p tree.Tree, path string, faults *schema.Faults) {
	if spec.String("serviceAccountName") == "" {
		faults.Forbidden(path, "must not be specified when serviceAccountName is not set")
	}
	authentication.ValidateTokenSeconds(p, path, faults)
	field.Format(p, "path", path, faults, validateLocalPath)
}

// validateFiles reports the paths of a projection that an earlier one uses already.
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
