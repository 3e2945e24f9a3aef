package schema

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	options "github.com/troupe-api/troupe/kinds/api"
	"github.com/troupe-api/troupe/kinds/meta"
)

var standardVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

var subresourceVerbs = []string{"get", "patch", "update"}

func messageOptions(d *descriptorpb.DescriptorProto) *options.Message {
	if d.Options == nil {
		return nil
	}
	o, _ := proto.GetExtension(d.Options, options.E_Message).(*options.Message)
	return o
}

func fieldOptions(d *descriptorpb.FieldDescriptorProto) *options.Field {
	if d.Options == nil {
		return nil
	}
	o, _ := proto.GetExtension(d.Options, options.E_Field).(*options.Field)
	return o
}

func newKind(declared *Declaration, o *options.Kind, n *meta.Naming) (*Kind, error) {
	name := declared.Name[strings.LastIndexByte(declared.Name, '.')+1:]
	k := &Kind{
		GroupVersionKind: meta.GroupVersionKind{Group: n.Translate(o.Group), Version: o.Version, Kind: name},
		Declared:         declared,
		Strategy:         DefaultStrategy{},
		Resource:         o.Resource,
		Names:            Names{Singular: orDefault(o.Singular, strings.ToLower(name)), Short: o.ShortNames, Categories: o.Categories},
		Namespaced:       o.Scope == options.Scope_NAMESPACED,
		Verbs:            verbs(o.Verbs, standardVerbs),
		OffByDefault:     o.OffByDefault,
		Feature:          o.Feature,
		Writes: Writes{
			CreateOnUpdate: o.CreateOnUpdate, ConditionalUpdate: o.ConditionalUpdate, Generation: o.TracksGeneration,
			Deletion: Deletion(o.Deletion), DeleteReturnsObject: o.DeleteReturnsObject,
		},
		NameFormat: NameFormat(o.NameFormat),
	}
	if o.Version == "" {
		return nil, fmt.Errorf("%s: a kind needs a version", name)
	}
	if d := o.Deprecation; d != nil {
		k.Deprecation = &Deprecation{Since: d.Since, Removed: d.Removed, Replacement: n.Translate(d.Replacement)}
	}
	for _, text := range o.SelectFields {
		k.SelectFields = append(k.SelectFields, newSelectField(text))
	}
	for _, name := range o.IndexedFields {
		i := slices.IndexFunc(k.SelectFields, func(f SelectField) bool { return f.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("%s: indexed field %q is not a selectable field", name, name)
		}
		k.SelectFields[i].Indexed = true
	}
	k.Storage = meta.GroupResource{Group: k.Group, Resource: o.Resource}
	if o.StorageResource != "" {
		k.Storage = meta.GroupResource{Group: n.Translate(o.StorageGroup), Resource: o.StorageResource}
	}
	for _, s := range o.Subresources {
		if k.Subresource(s.Name) != nil {
			return nil, fmt.Errorf("%s: sub-resource %q is declared twice", name, s.Name)
		}
		k.Subresources = append(k.Subresources, newSubresource(s, n))
	}
	for _, c := range o.Columns {
		k.Columns = append(k.Columns, newColumn(c))
	}
	return k, nil
}

func newSubresource(o *options.Subresource, n *meta.Naming) Subresource {
	s := Subresource{Name: o.Name, Verbs: verbs(o.Verbs, subresourceVerbs), Field: o.OnlyField, KeepsMetadata: o.KeepsMetadata, Connects: o.Connects}
	if s.Name == "status" {
		s.Field = s.Name
	}
	if o.Kind != "" {
		s.Kind = meta.GroupVersionKind{Group: n.Translate(o.Group), Version: o.Version, Kind: o.Kind}
	}
	if o.Scale != nil {
		s.Scale = &Scale{Replicas: o.Scale.Replicas, StatusReplicas: o.Scale.StatusReplicas, Selector: o.Scale.Selector}
	}
	return s
}

func newSelectField(text string) SelectField {
	name, path, renamed := strings.Cut(text, "=")
	if !renamed {
		path = name
	}
	path, instead, _ := strings.Cut(path, "|")
	return SelectField{Name: name, Path: path, Fallback: instead}
}

// usualColumns contains the columns that are declared only by name.
var usualColumns = map[string]*options.Column{
	"Name":       {Name: "Name", Format: "name", Path: "metadata.name", Description: "The name of the object."},
	"Age":        {Name: "Age", Path: "func:age", Description: "The time since creation."},
	"Containers": {Name: "Containers", Path: "func:containers", Priority: 1, Description: "The names of the containers in the template."},
	"Images":     {Name: "Images", Path: "func:images", Priority: 1, Description: "The images of the containers in the template."},
	"Selector":   {Name: "Selector", Path: "func:selector", Priority: 1, Description: "The labels of the Pods that belong to it."},
}

func newColumn(o *options.Column) Column {
	if usual := usualColumns[o.Name]; o.Path == "" && usual != nil {
		o = usual
	}
	return Column{
		Name: o.Name, Type: orDefault(o.Type, "string"), Format: o.Format,
		Description: o.Description, Priority: o.Priority, Path: o.Path,
	}
}

func (f *Field) applyOptions(o *options.Field, n *meta.Naming) {
	f.EmitEmpty = o.GetEmitEmpty()
	f.ListType = ListType(o.GetListType())
	f.ListMapKeys = o.GetListMapKeys()
	f.MapAtomic = o.GetMapAtomic()
	f.MergeKey = o.GetMergeKey()
	f.MergeStrategies = o.GetMergeStrategies()
	f.Required, f.RequiredDetail = o.GetRequired(), o.GetRequiredDetail()
	if w := o.GetRequiredWhen(); w != nil {
		f.RequiredWhen = &RequiredWhen{Field: w.Field, Values: translateAll(n, w.Values), Detail: w.Detail}
	}
	f.Documented = Presence(o.GetDocumentedPresence())
	f.Immutable = o.GetImmutable()
	f.Enum, f.DocumentedEnum = translateAll(n, o.GetEnum()), translateAll(n, o.GetDocumentedEnum())
	if o != nil {
		f.Min, f.Max = o.Min, o.Max
	}
	f.MinLength = int(o.GetMinLength())
	f.MaxLength = int(o.GetMaxLength())
	f.MaxItems = int(o.GetMaxItems())
	f.Pattern = o.GetPattern()
	f.Format, f.KeyFormat = o.GetFormat(), o.GetKeyFormat()
	f.MayRepeat = o.GetMayRepeat()
	f.Empty, f.RangeText = Empty(o.GetEmpty()), o.GetRangeText()
	f.RequiredFields = o.GetRequiredFields()
	f.WholeThousandths = o.GetWholeThousandths()
	f.Feature = o.GetFeature()
	if o.GetReservedKeys() {
		f.ReservedDomains = n.Domains()
	}
}

var scalarTypes = map[options.Scalar]Type{
	options.Scalar_TIME:          TypeTime,
	options.Scalar_MICRO_TIME:    TypeMicroTime,
	options.Scalar_QUANTITY:      TypeQuantity,
	options.Scalar_INT_OR_STRING: TypeIntOrString,
	options.Scalar_RAW:           TypeRaw,
	options.Scalar_DURATION:      TypeDuration,
	options.Scalar_STRING_LIST:   TypeStrings,
	options.Scalar_FIELDS_V1:     TypeFields,
}

func translateAll(n *meta.Naming, texts []string) []string {
	var all []string
	for _, text := range texts {
		all = append(all, n.Translate(text))
	}
	return all
}

func newOneOf(o *options.Message) []OneOf {
	var all []OneOf
	for _, group := range o.GetOneOf() {
		all = append(all, OneOf{Fields: group.Fields, None: group.None, Many: group.Many})
	}
	return all
}

func verbs(declared, standard []string) []string {
	if len(declared) == 0 {
		return standard
	}
	return slices.Sorted(slices.Values(declared))
}

func orDefault(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}
