package cel

import (
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"

	"github.com/troupe-api/troupe/kinds/meta"
)

// An Env is what expressions of one purpose may use: the language, the functions, and variables. It is
// costly to make and cheap to use, so each purpose has one that lives as long as the process or the schema.
type Env struct {
	env       *cel.Env
	naming    *meta.Naming
	variables map[string]*Type
	first     *Type // of the first variable; nil if there is none
	sized     bool
}

// An Option adds to an environment.
type Option func(*envOptions)

// first is the type that sizes of values without a variable are taken from (estimates.EstimateSize).
type envOptions struct {
	variables map[string]*Type
	first     *Type
	more      []cel.EnvOption
	patches   bool
	sized     bool
}

// declare declares a variable whose type in expressions is of. of differs from the type of t where the
// variable is optional.
func (o *envOptions) declare(name string, t *Type, of *cel.Type) {
	if o.first == nil {
		o.first = t
	}
	o.variables[name] = t
	o.more = append(o.more, cel.Variable(name, of))
}

// Variable declares a variable. The first one that is declared also stands for what has no variable in
// estimates.
func Variable(name string, t *Type) Option {
	return func(o *envOptions) { o.declare(name, t, t.cel) }
}

// OptionalVariable declares a variable that may have no value: in expressions it is an optional, which is
// not the same as null.
func OptionalVariable(name string, t *Type) Option {
	return func(o *envOptions) { o.declare(name, t, types.NewOptionalType(t.cel)) }
}

// Sized says that the sizes of variables are known when expressions are evaluated: their Activation is a Sizer. It
// makes evaluations cheaper, and programs twice as large.
func Sized() Option { return func(o *envOptions) { o.sized = true } }

// PatchTypes declares what expressions that change objects make: JSONPatch, Object and the types of its fields
// (Object.spec, Object.spec.containers), and jsonpatch.escapeKey.
func PatchTypes() Option {
	return func(o *envOptions) { o.patches = true }
}

// Bindings declares cel.bind(name, value, expression), which names a value within an expression.
func Bindings() Option {
	return func(o *envOptions) { o.more = append(o.more, ext.Bindings(ext.BindingsVersion(0))) }
}

// NewEnv makes an environment. The names of types in faults are those of a naming profile. The functions
// are shared by all environments, and are made with the first one. The registry is the library's, for types
// of the language itself; objects of trees never get there.
func NewEnv(naming *meta.Naming, options ...Option) (*Env, error) {
	o := envOptions{variables: map[string]*Type{}}
	for _, option := range options {
		option(&o)
	}
	base, err := baseEnv()
	if err != nil {
		return nil, err
	}
	if o.patches {
		o.more = append(o.more, jsonPatchFunctions()...)
	}
	registry, err := types.NewRegistry()
	if err != nil {
		return nil, err
	}
	p := &provider{Provider: base.CELTypeProvider(), patches: o.patches}
	for _, t := range o.variables {
		p.add(t.objects)
	}
	env, err := base.Extend(append(o.more, cel.CustomTypeProvider(p), cel.CustomTypeAdapter(adapter{registry}))...)
	if err != nil {
		return nil, err
	}
	return &Env{env: env, naming: naming, variables: o.variables, first: o.first, sized: o.sized}, nil
}

// baseEnv is the environment of every expression: the language and the functions. The versions of
// extensions are pinned: a later one would accept expressions which older servers of the same cluster
// refuse. Literals of mixed types are refused, times are in UTC unless an expression says otherwise, and to
// test whether a field is present is free, all as in the public API.
var baseEnv = sync.OnceValues(func() (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.HomogeneousAggregateLiterals(), cel.EagerlyValidateDeclarations(true), cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true), cel.OptionalTypes(),
		cel.CostEstimatorOptions(checker.PresenceTestHasCost(false)),
		cel.ASTValidators(cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateRegexLiterals(),
			cel.ValidateHomogeneousAggregateLiterals()),
		ext.Strings(ext.StringsVersion(2)), ext.Sets(), ext.TwoVarComprehensions(), ext.Lists(ext.ListsVersion(3)),
	}
	for _, functions := range [][]cel.EnvOption{
		urlFunctions(), regexFunctions(), listFunctions(), authorizerFunctions(), quantityFunctions(), ipFunctions(), cidrFunctions(),
		formatFunctions(), semverFunctions(),
	} {
		options = append(options, functions...)
	}
	env, err := cel.NewEnv(options...)
	if err != nil {
		return nil, err
	}
	return guardFunctions(env)
})

// translate gives a text that may mention types the names of a profile. Types are named in platform form
// everywhere in this package, because environments are shared by profiles; texts are translated when they
// leave it.
func translate(naming *meta.Naming, text string) string {
	word := naming.Translate("platform")
	if word == "platform" || !strings.Contains(text, "platform") {
		return text
	}
	for _, name := range platformTypes {
		text = strings.ReplaceAll(text, name, word+strings.TrimPrefix(name, "platform"))
	}
	return strings.ReplaceAll(text, extensionPrefix, naming.Translate(extensionPrefix))
}
