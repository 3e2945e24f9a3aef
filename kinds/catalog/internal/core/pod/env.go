package pod

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The fields of a Pod that fieldRef may name: in environment variables, and in files of volumes.
// Single labels and annotations may be named as well (validateSubscript).
var (
	envFields = []string{"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
		"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"}
	volumeFields = []string{"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"}
	// knownFields exist, but no fieldRef may name them; they have a message of their own.
	knownFields = []string{"spec.hostNetwork", "spec.restartPolicy", "spec.schedulerName", "status.nominatedNodeName", "status.phase"}
	// containerResourceFields are the resources that resourceFieldRef may name. Huge pages may be named as
	// well, with their size in the name.
	containerResourceFields = []string{"limits.cpu", "limits.ephemeral-storage", "limits.memory",
		"requests.cpu", "requests.ephemeral-storage", "requests.memory"}
)

// validateEnv checks env and envFrom of a container at path. A repeated name is fine: the last one counts.
func validateEnv(c tree.Tree, path string, faults *schema.Faults) {
	for i, e := range c.Objects("env") {
		at := tree.IndexPath(path+".env", i)
		if source, ok := e["valueFrom"].(tree.Tree); ok {
			validateEnvSource(e, source, at+".valueFrom", faults)
		}
	}
	for i, e := range c.Objects("envFrom") {
		at := tree.IndexPath(path+".envFrom", i)
		config, secret := e.Object("configMapRef"), e.Object("secretRef")
		switch {
		case config == nil && secret == nil:
			faults.Invalid(path+".envFrom", "", "must specify one of: `configMapRef` or `secretRef`")
		case config != nil && secret != nil:
			validateEnvObject(config, at+".configMapRef", faults)
			validateEnvObject(secret, at+".secretRef", faults)
			faults.Invalid(path+".envFrom", "", "may not have more than one field specified at a time")
		case config != nil:
			validateEnvObject(config, at+".configMapRef", faults)
		default:
			validateEnvObject(secret, at+".secretRef", faults)
		}
	}
}

// validateFileKeys checks that variables that are keys of files name a volume which is an empty directory at first: only
// the Pod itself writes such files.
func validateFileKeys(spec tree.Tree, path string, faults *schema.Faults) {
	var volumes map[string]tree.Tree
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for i, c := range spec.Objects(list) {
			for j, e := range c.Objects("env") {
				key := e.Object("valueFrom", "fileKeyRef")
				if key == nil {
					continue
				}
				if volumes == nil {
					volumes = volumesByName(spec)
				}
				at := tree.IndexPath(tree.IndexPath(path+"."+list, i)+".env", j) + ".valueFrom.fileKeyRef.volumeName"
				name := key.String("volumeName")
				switch v, found := volumes[name]; {
				case !found:
					faults.NotFound(at, name)
				case v.Object("emptyDir") == nil:
					faults.Invalid(at, name, "referenced volume must be of type emptyDir")
				}
			}
		}
	}
}

func volumesByName(spec tree.Tree) map[string]tree.Tree {
	volumes := map[string]tree.Tree{}
	for _, v := range spec.Objects("volumes") {
		volumes[v.String("name")] = v
	}
	return volumes
}

// validateEnvObject checks the name of an object whose entries become variables. One that is still to be generated has
// a prefix for a name, which may end with a hyphen.
func validateEnvObject(ref tree.Tree, path string, faults *schema.Faults) {
	name := ref.String("name")
	if name == "" {
		faults.Required(path + ".name")
		return
	}
	for _, msg := range rules.Subdomain(maskTrailingDash(name)) {
		faults.Invalid(path+".name", name, msg)
	}
}

// maskTrailingDash is a name with another character for a hyphen at its end.
func maskTrailingDash(name string) string {
	if len(name) > 1 && strings.HasSuffix(name, "-") {
		return name[:len(name)-1] + "a"
	}
	return name
}

// One variable has one value. A value beside a source would be ignored by some nodes and used by others.
func validateEnvSource(e, source tree.Tree, path string, faults *schema.Faults) {
	n := 0
	if ref := source.Object("fieldRef"); ref != nil {
		n++
		validateFieldRef(ref, path+".fieldRef", envFields, faults)
	}
	if ref := source.Object("resourceFieldRef"); ref != nil {
		n++
		validateResourceRef(ref, path+".resourceFieldRef", false, faults)
	}
	for _, name := range []string{"configMapKeyRef", "secretKeyRef", "fileKeyRef"} {
		if !source.Has(name) {
			continue
		}
		if n++; name == "fileKeyRef" {
			key := source.Object(name)
			field.Format(key, "key", path+"."+name, faults, rules.EnvName)
			field.Format(key, "volumeName", path+"."+name, faults, rules.Label)
		} else {
			object := source.Object(name).String("name")
			for _, msg := range rules.Subdomain(object) {
				faults.Invalid(path+"."+name+".name", object, msg)
			}
		}
	}
	switch {
	case n == 0:
		faults.Invalid(path, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`")
	case e.String("value") != "":
		faults.Invalid(path, "", "may not be specified when `value` is not empty")
	case n > 1:
		faults.Invalid(path, "", "may not have more than one field specified at a time")
	}
}

// validateFieldRef checks a reference to one of the allowed fields of the Pod.
//
// The allowed fields differ by where they are used: what is only known once the Pod runs can be in a variable, but a
// file is made earlier. A field that exists and is not allowed gets another message than one that does not exist.
func validateFieldRef(ref tree.Tree, path string, allowed []string, faults *schema.Faults) {
	field := ref.String("fieldPath")
	at := path + ".fieldPath"
	if field == "" {
		faults.Required(at)
		return
	}
	if version := ref.String("apiVersion"); version != "" && version != "v1" {
		faults.Invalid(at, field, "error converting fieldPath: unsupported pod version: "+version)
		return
	}
	if base, key, ok := strings.Cut(field, "['"); ok && strings.HasSuffix(key, "']") {
		validateSubscript(base, strings.TrimSuffix(key, "']"), path, field, faults)
		return
	}
	if slices.Contains(allowed, field) {
		return
	}
	if slices.Contains(envFields, field) || slices.Contains(volumeFields, field) || slices.Contains(knownFields, field) {
		faults.NotSupported(at, field, allowed)
		return
	}
	faults.Invalid(at, field, "error converting fieldPath: field label not supported: "+field)
}

// validateSubscript checks metadata.labels['key'] and metadata.annotations['key']. Faults of the key are
// reported for the whole reference at path, as clients expect. Annotations may have been written before
// keys had to be in lower case, hence the conversion.
func validateSubscript(base, key, path, field string, faults *schema.Faults) {
	switch base {
	case "metadata.labels":
	case "metadata.annotations":
		key = strings.ToLower(key)
	default:
		faults.Invalid(path+".fieldPath", field, "error converting fieldPath: field label does not support subscript: "+field)
		return
	}
	for _, msg := range rules.QualifiedName(key) {
		faults.Invalid(path, key, msg)
	}
}

// validateResourceRef checks a reference to a resource of a container. In a volume it must name the
// container.
//
// A variable belongs to a container, whose resources are meant if none is named; a volume belongs to the Pod.
func validateResourceRef(ref tree.Tree, path string, volume bool, faults *schema.Faults) {
	name := ref.String("resource")
	paged := strings.HasPrefix(name, "limits.hugepages-") || strings.HasPrefix(name, "requests.hugepages-")
	switch {
	case volume && ref.String("containerName") == "":
		faults.Required(path + ".containerName")
	case name == "":
		faults.Required(path + ".resource")
	case !paged && !slices.Contains(containerResourceFields, name):
		faults.NotSupported(path+".resource", name, containerResourceFields)
	}
	validateDivisor(name, ref.String("divisor"), path+".divisor", faults)
}

// The divisors that a reference to a resource may have.
var (
	cpuDivisors    = []string{"1m", "1"}
	memoryDivisors = []string{"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}
)

// validateDivisor checks the divisor of a reference to the resource name; "0" stands for none. The
// value in the fault is the resource, as clients expect.
func validateDivisor(name, unit, path string, faults *schema.Faults) {
	_, resource, _ := strings.Cut(name, ".")
	units, listed, what := memoryDivisors, strings.Join(memoryDivisors, ", "), resource
	switch {
	case unit == "" || unit == "0":
		return
	case resource == "cpu":
		units, listed = cpuDivisors, strings.Join(cpuDivisors, " and ")
	case resource == "ephemeral-storage":
		what = "local ephemeral storage"
	case strings.HasPrefix(resource, "hugepages-"):
		what = "hugepages"
	case resource != "memory":
		return
	}
	if !slices.Contains(units, unit) {
		faults.Invalid(path, name, "only divisor's values "+listed+" are supported with the "+what+" resource")
	}
}
