package cel

import (
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/checker"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/ext"

	"github.com/troupe-api/troupe/kinds/meta"
)

// An Env defines the language, functions and variables of one kind of expression. It is expensive,
// so it is created once per process or schema.
type Env struct {
	env       *cel.Env
	naming    *meta.Naming
	variables map[string]*Type
	first     *Type // type of the first variable, or nil
	sized     bool
}

// An Option adds variables, types or functions to an environment.
type Option func(*envOptions)

type envOptions struct {
	variables map[string]*Type
	first     *Type
	more      []cel.EnvOption
	patches   bool
	sized     bool
}

func (o *envOptions) declare(name string, t *Type, of *cel.Type) {
	if o.first == nil {
		o.first = t
	}
	o.variables[name] = t
	o.more = append(o.more, cel.Variable(name, of))
}

// Variable declares a variable. The first variable also determines the estimated size of values
// that cannot be traced to a variable.
func Variable(name string, t *Type) Option {
	return func(o *envOptions) { o.declare(name, t, t.cel) }
}

// OptionalVariable declares a variable that may be absent. Expressions see a CEL optional, in which
// absence differs from null.
func OptionalVariable(name string, t *Type) Option {
	return func(o *envOptions) { o.declare(name, t, types.NewOptionalType(t.cel)) }
}

// Sized declares that every Activation is a Sizer. Many evaluations then need not count costs, but
// programs take twice the memory.
func Sized() Option { return func(o *envOptions) { o.sized = true } }

// PatchTypes declares the types and functions of MutatingAdmissionPolicies: JSONPatch, Object and
// its field types (Object.spec), and jsonpatch.escapeKey.
func PatchTypes() Option {
	return func(o *envOptions) { o.patches = true }
}

// Bindings declares cel.bind(name, value, expression), which defines a local variable.
func Bindings() Option {
	return func(o *envOptions) { o.more = append(o.more, ext.Bindings(ext.BindingsVersion(0))) }
}

// NewEnv returns an environment whose errors use the type names of the naming profile. The first
// call is slower, because it declares the functions that all environments share.
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

// baseEnv is the environment that all others extend. As in kube-apiserver, list and map literals
// must not mix types, times are in UTC by default, and presence tests are free. The versions of
// extensions are pinned, so that all server versions accept the same expressions.
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

// translate replaces platform type names in a message with the naming profile's names. Environments
// use platform names, because all profiles share them.
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
