package batch

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/core/pod"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// completionModeIndexed is the completion mode in which each Pod has an index.
const completionModeIndexed = "Indexed"

// The bounds of indexed Jobs, which keep the lists of indexes in the status short.
const (
	indexedJobLimit                = 100_000 // Pods at once, and failed indexes
	indexedJobLimitHighCompletions = 10_000  // the same for a Job with more than indexedJobLimit completions
)

// validateJobSpec checks the spec of a Job or of the template of one, at path.
//
// The policies refer to the mode and to each other: limits per index need indexes, and a failure policy needs Pods
// that are replaced only when they have failed, or it would judge Pods that are still ending.
func validateJobSpec(spec tree.Tree, path string, faults *schema.Faults) {
	field.NonNegative(spec, path, faults, "backoffLimitPerIndex", "maxFailedIndexes")
	validateManagedBy(spec, path, faults)
	isIndexed := spec.String("completionMode") == completionModeIndexed
	if isIndexed {
		validateIndexed(spec, path, faults)
	} else {
		for _, name := range []string{"backoffLimitPerIndex", "maxFailedIndexes"} {
			if n, ok := spec.Int(name); ok {
				faults.Invalid(tree.FieldPath(path, name), n, "requires indexed completion mode")
			}
		}
	}
	validateFailurePolicy(spec, path+".podFailurePolicy", faults)
	if policy := spec.Object("successPolicy"); policy != nil && !isIndexed {
		faults.Invalid(path+".successPolicy", policy, "requires indexed completion mode")
	} else if policy != nil {
		validateSuccessPolicy(spec, path+".successPolicy", faults)
	}
	if policy := spec.String("podReplacementPolicy"); spec.Has("podFailurePolicy") && policy != "" && policy != "Failed" {
		faults.NotSupported(path+".podReplacementPolicy", policy, []string{"Failed"})
	}
	pod.ValidateTemplate(spec.Object("template"), path+".template", nil, faults)
	validateJobRestart(spec, path+".template.spec.restartPolicy", faults)
}

var domainPathRE = regexp.MustCompile(`^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$`)

// validateManagedBy checks the name of the controller of the Job, which has the form domain/path.
func validateManagedBy(spec tree.Tree, path string, faults *schema.Faults) {
	name, ok := spec["managedBy"].(string)
	if !ok {
		return
	}
	at := path + ".managedBy"
	domain, rest, _ := strings.Cut(name, "/")
	switch {
	case name == "":
		faults.Required(at)
	case domain == "" || rest == "":
		faults.Invalid(at, name, "must be a domain-prefixed path (such as \"acme.io/foo\")")
	default:
		for _, msg := range rules.Subdomain(domain) {
			faults.Invalid(at, domain, msg)
		}
		if !domainPathRE.MatchString(rest) {
			faults.Invalid(at, rest, "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')")
		}
	}
}

// validateIndexed checks the fields that depend on the completion mode.
//
// The failed indexes are kept in the status as text. The more completions there are the longer it may get, so the
// other bounds are tighter then.
func validateIndexed(spec tree.Tree, path string, faults *schema.Faults) {
	completions, sized := spec.Int("completions")
	parallelism, _ := spec.Int("parallelism")
	failed, bounded := spec.Int("maxFailedIndexes")
	if parallelism > indexedJobLimit {
		faults.Invalid(path+".parallelism", parallelism, fmt.Sprintf("must be less than or equal to %d when completion mode is Indexed", indexedJobLimit))
	}
	if sized && bounded && failed > completions {
		faults.Invalid(path+".maxFailedIndexes", failed, "must be less than or equal to completions")
	}
	if failed > indexedJobLimit {
		faults.Invalid(path+".maxFailedIndexes", failed, fmt.Sprintf("must be less than or equal to %d", indexedJobLimit))
	}
	if completions <= indexedJobLimit || !spec.Has("backoffLimitPerIndex") {
		return
	}
	const many = "must be less than or equal to %d when completions are above %d and used with backoff limit per index"
	if !bounded {
		faults.Required(path+".maxFailedIndexes", fmt.Sprintf("must be specified when completions is above %d", indexedJobLimit))
	}
	if parallelism > indexedJobLimitHighCompletions {
		faults.Invalid(path+".parallelism", parallelism, fmt.Sprintf(many, indexedJobLimitHighCompletions, indexedJobLimit))
	}
	if failed > indexedJobLimitHighCompletions {
		faults.Invalid(path+".maxFailedIndexes", failed, fmt.Sprintf(many, indexedJobLimitHighCompletions, indexedJobLimit))
	}
}

// validateJobRestart requires a restart policy with which Pods end.
//
// A Pod that is always restarted never ends, and so would the Job. With a failure policy it must never be restarted
// in place, for the policy looks at Pods that have failed.
func validateJobRestart(spec tree.Tree, path string, faults *schema.Faults) {
	policy := spec.Object("template", "spec").String("restartPolicy")
	switch {
	case policy == "Always" || policy == "":
		faults.Required(path, `valid values: "OnFailure", "Never"`)
	case !slices.Contains([]string{"OnFailure", "Never"}, policy):
		faults.NotSupported(path, policy, []string{"OnFailure", "Never"})
	case spec.Has("podFailurePolicy") && policy != "Never":
		faults.Invalid(path, policy, `only "Never" is supported when podFailurePolicy is specified`)
	}
}
