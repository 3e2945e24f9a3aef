package extension

import (
	"fmt"
	"strings"
	"testing"
)

// texts lists the arguments of string functions, by library.
var texts = map[string][]string{
	"url": {"https://user@example.com:8080/p/a%20th?x=1&x=2&y=#frag", "http://[::1]:80/", "/path?q", "//host", "example.com", "", "https://a b", "mailto:x@y", "../up", "https://h/\x7f"},
	"ip": {"1.2.3.4", "01.2.3.4", "255.255.255.255", "0.0.0.0", "127.0.0.1", "::", "::1", "fe80::1", "fe80::1%eth0", "ff02::1", "224.0.0.1", "169.254.1.1",
		"2001:DB8::1", "2001:db8:0:0::1", "::ffff:1.2.3.4", "1.2.3", "", "x"},
	"cidr": {"10.0.0.0/8", "10.1.2.3/8", "0.0.0.0/0", "::/0", "fe80::/10", "2001:db8::/129", "1.2.3.4/33", "1.2.3.4", "::ffff:1.2.3.0/120", "", "10.0.0.0/08"},
	"quantity": {"0", "1", "-1", "1.0", "0.0", "1.5", ".5", "5.", "1k", "1Ki", "1.5Gi", "-1Mi", "100m", "1e3", "1E3", "1e-3", "12n", "1E", "1Ei", "8Ei", "1000000000000000000",
		"999999999999999999", "9223372036854775807", "123456789.123456789", "0.0000000001", "+3", "00", "001", "1 k", "", "x", "1kk", "1i", "1e", "1.2.3", "--1", "0Ki", "20Mi", "1000000000000000Ki"},
	"semver": {"1.2.3", "0.0.0", "1.2.3-alpha.1+build.5", "1.2.3-01", "v1.2.3", "1.2", "1", "1.2.3.4", "01.2.3", "1.02.3", "1.2.3-", "1.2.3+", "1.2.3-a..b", "", "v", "v01.002",
		"1.2-alpha", "99999999999999999999.0.0", "1.0.0-alpha", "1.0.0-1", "1.0.0-alpha.beta", "1.0.0", "1..3", "1.2.3-é", "00.0.0", "v0.00.000"},
	"format": {"", "a", "A", "my-name", "my-name-", "-", "a.b", "a..b", "a_b", "example.com/Name", "/x", "a/b/c", "123", "1a", strings.Repeat("a", 64), strings.Repeat("a.", 130) + "a", "ä",
		"https://x", "YQ==", "YQ=", "YWE=", "====", "2020-01-01", "2020-13-01", "2020-01-01T10:00:00Z", "2020-01-01t10:00:00.5+01:00", "2020-01-01T24:00:00Z", "2020-01-01T10:00:00",
		"123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000", "x-"},
	"regex": {"", "a", "[0-9]+", "(a|b)*", "[", "a{2,}", "(?i)HELLO", ".", "^$", "\\d"},
}

// calls lists expressions by library. Each %s stands for an argument from texts.
var calls = map[string][]string{
	"url": {"isURL(%s)", "url(%s).getScheme()", "url(%s).getHost()", "url(%s).getHostname()", "url(%s).getPort()", "url(%s).getEscapedPath()", "url(%s).getQuery()", "url(%[1]s) == url(%[1]s)", "type(url(%s))"},
	"ip": {"isIP(%s)", "ip.isCanonical(%s)", "ip(%s).family()", "string(ip(%s))", "ip(%s).isUnspecified()", "ip(%s).isLoopback()", "ip(%s).isLinkLocalMulticast()", "ip(%s).isLinkLocalUnicast()",
		"ip(%s).isGlobalUnicast()", "ip(%s) == ip('::1')", "cidr('10.0.0.0/8').containsIP(%s)", "cidr('::/0').containsIP(ip(%s))", "type(ip(%s)) == net.IP"},
	"cidr": {"isCIDR(%s)", "cidr(%s).ip()", "cidr(%s).prefixLength()", "string(cidr(%s).masked())", "cidr(%s) == cidr('10.0.0.0/8')", "cidr('10.0.0.0/8').containsCIDR(%s)",
		"cidr('10.1.0.0/16').containsCIDR(cidr(%s))", "cidr(%s).ip() == ip('10.0.0.0')", "cidr(%s).containsIP('10.1.1.1')", "type(cidr(%s)) == net.CIDR"},
	"quantity": {"isQuantity(%s)", "quantity(%s).isInteger()", "quantity(%s).asInteger()", "quantity(%s).asApproximateFloat()", "quantity(%s).sign()", "quantity(%s).isGreaterThan(quantity('1'))",
		"quantity(%s).isLessThan(quantity('1Gi'))", "quantity(%s).compareTo(quantity('0.5'))", "quantity(%s).add(quantity('1.5')).isInteger()", "quantity(%s).add(1).asInteger()",
		"quantity(%s).sub(quantity('1Ki')).asApproximateFloat()", "quantity(%s).sub(2).isInteger()", "quantity(%s) == quantity('1')", "quantity(%s).add(quantity('9223372036854775807')).asApproximateFloat()",
		"quantity(%s).sub(quantity('0')).isInteger()", "quantity(%s).add(quantity('0.5')).add(quantity('0.5')).isInteger()"},
	"semver": {"isSemver(%s)", "isSemver(%s, true)", "isSemver(%s, false)", "semver(%s).major()", "semver(%s, true).minor()", "semver(%s, true).patch()", "semver(%s).isGreaterThan(semver('1.0.0'))",
		"semver(%s).isLessThan(semver('1.2.3-beta'))", "semver(%s).compareTo(semver('1.0.0-alpha.1'))", "semver(%s) == semver('1.2.3')", "type(semver(%s))"},
	"format": {"format.dns1123Label().validate(%s)", "format.dns1123Subdomain().validate(%s)", "format.dns1035Label().validate(%s)", "format.qualifiedName().validate(%s)",
		"format.dns1123LabelPrefix().validate(%s)", "format.dns1123SubdomainPrefix().validate(%s)", "format.dns1035LabelPrefix().validate(%s)", "format.labelValue().validate(%s)",
		"format.uri().validate(%s)", "format.uuid().validate(%s)", "format.byte().validate(%s)", "format.date().validate(%s)", "format.datetime().validate(%s)",
		"format.named(%s).hasValue()"},
	"regex": {"'Hello aab 123'.find(%s)", "'Hello aab 123'.findAll(%s)", "'Hello aab 123'.findAll(%s, 1)", "'Hello aab 123'.matches(%s)", "object.spec.text.find(%s + object.spec.empty)",
		"object.spec.text.findAll(%s + object.spec.empty)", "object.spec.text.matches(%s + object.spec.empty)", "object.spec.texts.all(x, x.matches(%s))"},
}

// others lists expressions without arguments, by library.
var others = map[string][]string{
	"language": {"1 + 2", "1 / 0", "string(1.0 / 0.0)", "5 % 0", "9223372036854775807 + 1", "object.spec.replicas + 1", "object.spec.replicas + 1.5", "object.spec.big == 9007199254740993", "object.spec.none == null", "object.nope", "has(object.nope)",
		"has(object.spec.none)", "object.spec.replicas > 2.5", "1 == 1.0", "1u < 2", "dyn(1) == dyn(1u)", "object.spec.mixed[0] == 1.0", "object.spec.mixed == [1, 'a', true, null]", "[1, 'a']", "{'a': 1, 2: 3}",
		"object.metadata.labels['a/b']", "'app' in object.metadata.labels", "object.metadata.labels.all(k, k != '')", "object.metadata.labels.exists_one(k, object.metadata.labels[k] == 'c')", "object.spec.list[9]",
		"object.spec.list[-1]", "object.?spec.?nope.orValue('x')", "object.?spec.?replicas.value()", "optional.none().value()", "[?object.?spec.?nope, 1]", "{?'a': object.?nope}", "object.spec.list.map(x, x * 2)",
		"object.spec.list.filter(x, x > 1).size()", "object.spec.list.exists_one(x, x == 2)", "object.spec.list.all(i, v, i < 9 && v > 0)", "object.spec.map.all(k, v, k != v)",
		"object.spec.list.transformList(i, v, i * v)", "object.spec.map.transformMap(k, v, k + v)", "object.spec.map.transformMapEntry(k, v, {v: k})", "object.spec.list.existsOne(i, v, v == 1)",
		"cel.bind(x, 1, x + 1)", "duration('1h') + duration('30m')", "duration('x')", "timestamp('2020-01-01T00:00:00Z').getFullYear()", "timestamp('x')", "timestamp('2020-01-01T00:00:00Z').getDayOfWeek()", "string(duration('90s'))",
		"bytes('ä').size()", "string(b'a')", "int('12')", "int('x')", "uint(3)", "double('1.5')", "type(object)", "type(object.spec.list)", "object.spec.list == [3, 1, 2, 2]", "object.spec.objects[0] == {'n': 'x', 'v': 2}",
		"object.spec.objects.exists(o, o.n == 'y' && o.v == 1)", "object.spec.on && object.spec.nope", "object.spec.off && object.spec.nope", "object.spec.on || object.spec.nope", "object.spec.on ? 1 : 2",
		"size(object)", "object.spec.text + '!'", "object.spec.text.size()", "object.spec.text.contains('World')", "object.spec.text.startsWith('Hello')", "object.spec.text.endsWith('x')", "object == object",
		"object.spec == object.metadata", "2 in object.spec.list", "'a' in ['a', 'b']", "object.spec.list + [1]", "object.spec.text < 'I'", "-object.spec.replicas", "!object.spec.on", "object.spec.text - 1", "undefined", "1 +", "'a' + 1",
		"object.spec.unicode.size()", "object.metadata.labels.map(k, k).size()", "[[1, 2], [3]].map(l, l.map(x, x + 1))", "namespace", "object.namespace", "object.spec.texts.map(x, x == 'a', x + x)", "'\\u00fc'", "b'\\x00'", "null", "object.spec.mixed[3] == null"},
	"strings": {"object.spec.text.lowerAscii()", "object.spec.text.upperAscii()", "' x '.trim()", "object.spec.text.charAt(1)", "object.spec.text.charAt(99)", "object.spec.text.indexOf('o')", "object.spec.text.indexOf('o', 5)",
		"object.spec.text.lastIndexOf('o')", "object.spec.text.lastIndexOf('o', 5)", "object.spec.text.replace('o', '0')", "object.spec.text.replace('l', '', 1)", "object.spec.text.split(', ')", "object.spec.text.split('', 3)",
		"object.spec.text.substring(3)", "object.spec.text.substring(3, 5)", "object.spec.text.substring(5, 3)", "object.spec.texts.join()", "object.spec.texts.join('-')", "'%s %d %.2f %t %x'.format(['a', 1, 1.5, true, 255])",
		"'%d'.format(['a'])", "'%s'.format([object.spec.list])", "'%s'.format([])", "strings.quote('a\"b')", "'abc'.reverse()", "object.spec.unicode.upperAscii()", "''.join()", "['a', 'b'].join(', ').size()", "'%b'.format([5])", "'%e'.format([1.5])", "'a,b'.split(',', 0)", "'a,b'.split(',', -1)"},
	"lists": {"[1, 2, 3].isSorted()", "object.spec.list.isSorted()", "['a', 'b'].isSorted()", "[1, 2].sum()", "[1.5, 2.0].sum()", "[].sum() == 0", "[duration('1h')].sum()", "object.spec.list.sum()", "[3, 1].min()", "['b', 'a'].max()",
		"object.spec.texts.max()", "[].min()", "[].max()", "object.spec.list.indexOf(2)", "object.spec.list.lastIndexOf(2)", "object.spec.list.indexOf(9)", "[true, false].min()", "[b'a'].max()", "object.spec.list.includes(2)", "object.spec.texts.includes('d')", "object.spec.mixed.includes(1.0)", "object.spec.text.includes('Hello')",
		"object.spec.replicas.includes(3)", "[1, 2].includes('a')", "[].includes(object.spec.none)", "object.spec.map.includes(object.spec.map)", "object.spec.mixed.isSorted()", "object.spec.mixed.sum()",
		"[3, 1, 2].sort()", "['b', 'a'].sort()", "object.spec.list.sort()", "object.spec.mixed.sort()", "object.spec.objects.sortBy(o, o.v)", "object.spec.objects.sortBy(o, o.n).map(o, o.v)", "[1, 2, 2, 1].distinct()", "object.spec.texts.distinct()",
		"object.spec.list.reverse()", "[1, 2, 3].slice(1, 2)", "[1].slice(0, 5)", "[1].slice(1, 0)", "[[1, 2], [3]].flatten()", "object.spec.nested.flatten()", "object.spec.nested.flatten(2)", "[1].flatten(-1)", "lists.range(4)", "lists.range(0)", "lists.range(-1)",
		"[timestamp('2020-01-01T00:00:00Z')].max()", "[1, 2].first()", "[1, 2].last()", "[[1], [2]].sort()", "[1, 1.0].distinct()"},
	"sets": {"sets.contains([1, 2, 3], [1])", "sets.contains(object.spec.list, [1, 2])", "sets.equivalent([1, 2, 2], [2, 1])", "sets.intersects(object.spec.texts, ['z', 'a'])", "sets.contains([], [])", "sets.intersects([1], [])", "sets.equivalent(object.spec.list, object.spec.list)"},
	"authorizer": {"authorizer.path('/healthz').check('get').allowed()", "authorizer.path('/healthz').check('post').reason()", "authorizer.path(' ')", "authorizer.group('').resource('pods').check('get').reason()", "authorizer.group('apps').resource('').check('get').allowed()",
		"authorizer.group('apps').resource('deployments').subresource('status').namespace('default').name('web').check('get').reason()", "authorizer.group('').resource('secrets').check('get').errored()",
		"authorizer.group('').resource('secrets').check('get').error()", "authorizer.group('').resource('pods').check('get').error()", "authorizer.serviceAccount('default', 'robot').group('').resource('pods').check('get').reason()", "authorizer.serviceAccount('Default', 'robot').path('/x')",
		"authorizer.serviceAccount('default', 'Robot').path('/x').check('get').allowed()", "authorizer.group('').resource('pods').fieldSelector('metadata.name!=b,spec.nodeName=a').check('get').reason()",
		"authorizer.group('').resource('pods').labelSelector('a=b,c in (d,e),f').check('get').reason()", "authorizer.group('').resource('pods').labelSelector('a=b,(').check('get').reason()", "authorizer.group('').resource('pods').fieldSelector('x').check('get').reason()",
		"authorizer.group('').resource('pods').check('get').allowed() && authorizer.group('').resource('pods').check('get').allowed() && authorizer.group('').resource('pods').check('get').allowed()", "type(authorizer)"},
	"patches": {"Object{spec: Object.spec{replicas: 3}}", "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'a'}], labels: {'a': 'b'}}}", "[JSONPatch{op: 'add', path: '/a', value: 1}]", "[JSONPatch{op: 'add', path: '/a', value: Object.a{b: [1, 'x']}}]", "[JSONPatch{op: 1}]",
		"[JSONPatch{nope: 1}]", "jsonpatch.escapeKey('a/b~c')", "JSONPatch{op: 'test'}.op", "has(JSONPatch{op: 'test'}.path)", "Object{} == Object{}", "[JSONPatch{op: 'remove', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b')}][0].path", "Object{spec: 1}.spec"},
}

// TestFunctions evaluates expressions from every library and compares results, errors and costs
// with the reference implementation.
func TestFunctions(t *testing.T) {
	t.Parallel()
	compare := comparer(t)
	count := 0
	check := func(t *testing.T, text string) {
		count++
		ours, reference := compare(text)
		switch {
		case (ours.compile == "") != (reference.compile == ""), ours.value != reference.value, !same(ours.fault, reference.fault), !sameCost(ours.cost, reference.cost, ours.fault != ""),
			!same(ours.compile, reference.compile):
			t.Errorf("%s\n ours      %v\n reference %v", text, ours, reference)
		}
	}
	for library, forms := range calls {
		t.Run(library, func(t *testing.T) {
			for _, form := range forms {
				for _, value := range texts[library] {
					check(t, fmt.Sprintf(form, fmt.Sprintf("%q", value)))
				}
			}
		})
	}
	for library, all := range others {
		t.Run(library, func(t *testing.T) {
			for _, text := range all {
				check(t, text)
			}
		})
	}
	t.Logf("%d expressions", count)
}

// sameCost compares costs. If the evaluation failed, our cost may be lower. The reference
// implementation uses an older cel-go, which charges a call even if an argument fails.
func sameCost(ours, reference uint64, failed bool) bool {
	return ours == reference || failed && ours < reference
}
