package openapi

type parameter struct {
	name, in, typ, description string
}

func query(name, typ, description string) parameter {
	return parameter{name, "query", typ, description}
}

// Path parameters.
var (
	nameParameter      = parameter{"name", "path", "string", "The name of the object."}
	namespaceParameter = parameter{"namespace", "path", "string", "The namespace of the object."}
	prettyParameter    = query("pretty", "string", "\"true\" asks for an answer with line breaks and indents.")
)

// Query parameters, in the order of documents.
var (
	dryRun          = query("dryRun", "string", "\"All\" asks for the answer alone: everything is checked, nothing is stored.")
	fieldManager    = query("fieldManager", "string", "The name under which the fields that the request sets are owned: at most 128 printable characters. An apply must give one.")
	fieldValidation = query("fieldValidation", "string", "What becomes of fields that are unknown or given twice: \"Strict\" refuses them, \"Warn\" drops them with a warning, \"Ignore\" drops them. The default is \"Warn\".")
	force           = query("force", "boolean", "For an apply: take the fields that conflict from their managers.")

	listParameters = []parameter{
		query("allowWatchBookmarks", "boolean", "For a watch: allow bookmarks, events that hold nothing but a version to resume from."),
		query("continue", "string", "The token of the chunk before, to get the next one. The other parameters must be the same."),
		query("fieldSelector", "string", "Restricts the list of returned objects by their fields. Defaults to everything."),
		query("labelSelector", "string", "Restricts the list of returned objects by their labels. Defaults to everything."),
		query("limit", "integer", "At most so many objects. If there are more, the list holds a token to go on with."),
		query("resourceVersion", "string", "The version that the answer is to be from; resourceVersionMatch says how."),
		query("resourceVersionMatch", "string", "\"Exact\" for the version itself, \"NotOlderThan\" for it or a newer one."),
		query("sendInitialEvents", "boolean", "For a watch: begin with the objects that are there, and a bookmark behind them."),
		query("timeoutSeconds", "integer", "How long the call may take."),
		query("watch", "boolean", "Watch for changes to the described resources: the response is a stream of events. Specify resourceVersion to say where it begins."),
	}
	writeParameters  = []parameter{dryRun, fieldManager, fieldValidation}
	patchParameters  = []parameter{dryRun, fieldManager, fieldValidation, force}
	deleteParameters = []parameter{
		dryRun,
		query("gracePeriodSeconds", "integer", "How many seconds the object may take to stop; 0 removes it at once."),
		query("ignoreStoreReadErrorWithClusterBreakingPotential", "boolean", "Remove the object even if what is stored of it cannot be read."),
		query("orphanDependents", "boolean", "Leave what the object owns. Use propagationPolicy instead."),
		query("propagationPolicy", "string", "What becomes of what the object owns: \"Orphan\" leaves it, \"Background\" removes it afterwards, \"Foreground\" before."),
	}
	// deleteCollectionParameters select like a list.
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

// parameters refers to shared parameters in version 2. In version 3 each operation has its own,
// where clients look for them.
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
