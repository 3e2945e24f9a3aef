package report

import (
	"fmt"
	"os"
	"strings"
)

// ReplaceSection writes text between the marks of a name in a Markdown file, which must have them: <!--
// bench: NAME --> and, after it, <!-- end -->. A file without the marks is an error rather than appended
// to: it is probably the wrong file.
func ReplaceSection(path, name, text string) error {
	all, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin := fmt.Sprintf("<!-- bench: %s -->\n", name)
	before, after, found := strings.Cut(string(all), begin)
	if !found {
		return fmt.Errorf("%s has no %q", path, strings.TrimSpace(begin))
	}
	_, after, found = strings.Cut(after, explanationEnd)
	if !found {
		return fmt.Errorf("%s has no %q after %q", path, explanationEnd, strings.TrimSpace(begin))
	}
	return os.WriteFile(path, []byte(before+begin+strings.Trim(text, "\n")+"\n"+explanationEnd+after), 0o644)
}
