package openapi

type parameter struct {
	name, in, typ, description string
}

func query(name, typ, description string) parameter {
	return parameter{name, "query", typ, description}
}

var (
	nameParameter      = parameter{"name", "path", "string", "The name of the object."}
	namespaceParameter = parameter{"namespace", "path", "string", "The namespace of the object."}
	prettyParameter    = query("pretty", "string", "If \"true\", the response is indented.")
)

// Query parameters, in the order in which documents list them.
var (
	dryRun          = query("dryRun", "string", "If \"All\", the request is fully processed, but changes are not stored.")
	fieldManager    = query("fieldManager", "string", "The manager that owns the fields set by the request, of at most 128 printable characters. Required for apply.")
	fieldValidation = query("fieldValidation", "string", "How to handle unknown or duplicate fields: \"Strict\" rejects them, \"Warn\" drops them with a warning, \"Ignore\" drops them silently. The default is \"Warn\".")
	force           = query("force", "boolean", "For apply: take over conflicting fields of other managers.")

	listParameters = []parameter{
		query("allowWatchBookmarks", "boolean", "For a watch: send bookmarks, events with only a resource version to resume from."),
		query("continue", "string", "The continue token of the previous chunk. All other parameters must be unchanged."),
		query("fieldSelector", "string", "Restricts the list of returned objects by their fields. Defaults to everything."),
		query("labelSelector", "string", "Restricts the list of returned objects by their labels. Defaults to everything."),
		query("limit", "integer", "Maximum number of objects. If there are more, the response has a continue token."),
		query("resourceVersion", "string", "The resource version of the response, as resourceVersionMatch specifies."),
		query("resourceVersionMatch", "string", "\"Exact\" for exactly that version, \"NotOlderThan\" for it or a newer one."),
		query("sendInitialEvents", "boolean", "For a watch: begin with the existing objects, followed by a bookmark."),
		query("shardSelector", "string", "Restricts the list to a shard. Not supported."),
		query("timeoutSeconds", "integer", "Timeout of the call."),
		query("watch", "boolean", "Watch for changes to the described resources: the response is a stream of events. Specify resourceVersion to resume from that version."),
	}
	writeParameters  = []parameter{dryRun, fieldManager, fieldValidation}
	patchParameters  = []parameter{dryRun, fieldManager, fieldValidation, force}
	deleteParameters = []parameter{
		dryRun,
		query("gracePeriodSeconds", "integer", "Seconds that the object may take to terminate; 0 deletes it immediately."),
		query("ignoreStoreReadErrorWithClusterBreakingPotential", "boolean", "Delete the object even if its stored data cannot be read."),
		query("orphanDependents", "boolean", "Do not delete dependents. Deprecated: use propagationPolicy."),
		query("propagationPolicy", "string", "How to handle dependents: \"Orphan\" keeps them, \"Background\" deletes them afterwards, \"Foreground\" before."),
	}
	deleteCollectionParameters = append(deleteParameters[:len(deleteParameters):len(deleteParameters)], withoutWatchParameters(listParameters)...)
)

func withoutWatchParameters(all []parameter) (some []parameter) {
	for _, p := range all {
		if p.name != "watch" && p.name != "allowWatchBookmarks" && p.name != "sendInitialEvents" {
			some = append(some, p)
		}
	}
	return some
}

func shared() []parameter {
	all := []parameter{nameParameter, namespaceParameter, prettyParameter, force, fieldManager, fieldValidation}
	return append(append(all, deleteParameters...), listParameters...)
}

func (p parameter) in2() object {
	o := object{{"description", p.description}, {"in", p.in}, {"name", p.name}}
	if p.in == "path" {
		o = o.with("required", true)
	}
	return append(o, member{"type", p.typ}, member{"uniqueItems", true})
}

func (p parameter) in3() object {
	o := object{{"description", p.description}, {"in", p.in}, {"name", p.name}}
	if p.in == "path" {
		o = o.with("required", true)
	}
	return o.with("schema", object{{"type", p.typ}, {"uniqueItems", true}})
}

// parameters returns references to shared parameters in version 2. In version 3, it returns
// complete parameters, because clients expect them in the operation.
func (d dialect) parameters(list []parameter) []any {
	all := make([]any, len(list))
	for i, p := range list {
		if d.v3 {
			all[i] = p.in3()
		} else {
			all[i] = object{{"$ref", "#/parameters/" + p.name}}
		}
	}
	return all
}
