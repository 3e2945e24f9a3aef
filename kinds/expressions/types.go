package expressions

import "github.com/troupe-api/troupe/kinds/cel"

func fields(of *cel.Type, names ...string) map[string]*cel.Type {
	all := make(map[string]*cel.Type, len(names))
	for _, name := range names {
		all[name] = of
	}
	return all
}

func with(all map[string]*cel.Type, name string, of *cel.Type) map[string]*cel.Type {
	all[name] = of
	return all
}

var (
	texts        = cel.ListOf(cel.String)
	kindType     = cel.ObjectOf("platform.GroupVersionKind", fields(cel.String, "group", "version", "kind"))
	resourceType = cel.ObjectOf("platform.GroupVersionResource", fields(cel.String, "group", "version", "resource"))
	userType     = cel.ObjectOf("platform.UserInfo",
		with(with(fields(cel.String, "username", "uid"), "groups", texts), "extra", cel.MapOf(texts)))
)

// RequestType is the type of the variable request.
var RequestType = func() *cel.Type {
	all := fields(cel.String, "subResource", "requestSubResource", "name", "namespace", "operation")
	all["kind"], all["requestKind"] = kindType, kindType
	all["resource"], all["requestResource"] = resourceType, resourceType
	all["userInfo"], all["dryRun"], all["options"] = userType, cel.Bool, cel.Dyn
	return cel.ObjectOf("platform.AdmissionRequest", all)
}()

// NamespaceType is the type of the variable namespaceObject.
var NamespaceType = func() *cel.Type {
	metadata := fields(cel.String, "name", "generateName", "namespace", "UID", "resourceVersion")
	metadata["labels"], metadata["annotations"] = cel.MapOf(cel.String), cel.MapOf(cel.String)
	metadata["creationTimestamp"], metadata["deletionTimestamp"] = cel.Timestamp, cel.Timestamp
	metadata["deletionGracePeriodSeconds"], metadata["generation"], metadata["finalizers"] = cel.Int, cel.Int, texts
	condition := cel.ObjectOf("platform.NamespaceCondition",
		with(fields(cel.String, "status", "type", "message", "reason"), "lastTransitionTime", cel.Timestamp))
	return cel.ObjectOf("platform.Namespace", map[string]*cel.Type{
		"metadata": cel.ObjectOf("platform.NamespaceMetadata", metadata),
		"spec":     cel.ObjectOf("platform.NamespaceSpec", fields(texts, "finalizers")),
		"status":   cel.ObjectOf("platform.NamespaceStatus", with(fields(cel.String, "phase"), "conditions", cel.ListOf(condition))),
	})
}()
