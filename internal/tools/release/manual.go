package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"pushbox/internal/cli"
)

// manual returns pushbox(1): deploy/pushbox.1 with the commands from their help texts,
// and with the exit codes from docs/operating.md.
func manual(s source) ([]byte, error) {
	page, err := s.read("deploy/pushbox.1")
	if err != nil {
		return nil, err
	}
	operating, err := s.read("docs/operating.md")
	if err != nil {
		return nil, err
	}
	codes, err := exitCodes(string(operating))
	if err != nil {
		return nil, err
	}
	for mark, text := range map[string]string{
		"@VERSION@": s.version, "@DATE@": s.time.Format("2006-01-02"), "@COMMANDS@\n": commands(cli.Pages()), "@EXIT_CODES@\n": codes,
	} {
		if !bytes.Contains(page, []byte(mark)) {
			return nil, fmt.Errorf("deploy/pushbox.1 has no place for %s", strings.TrimSpace(mark))
		}
		page = bytes.ReplaceAll(page, []byte(mark), []byte(text))
	}
	return page, nil
}

// commands returns the sections of all commands. The first page is that of pushbox
// itself; only its flags are used, since every command has them.
func commands(pages []cli.Page) string {
	var out strings.Builder
	for i, p := range pages {
		if i == 0 {
			fmt.Fprintf(&out, ".SS Flags of every command\n%s", strings.TrimPrefix(verbatim(p.Flags), ".PP\n"))
			continue
		}
		fmt.Fprintf(&out, ".SS %s\n%s.\n", roff(strings.TrimPrefix(p.Path, "pushbox ")), roff(p.Short))
		fmt.Fprintf(&out, ".PP\n.B %s\n", roff(p.Usage))
		for paragraph := range strings.SplitSeq(p.Long, "\n\n") {
			out.WriteString(prose(paragraph))
		}
		out.WriteString(verbatim(p.Flags))
		out.WriteString(verbatim(p.Example))
	}
	return out.String()
}

// prose formats a paragraph; an indented one keeps its lines.
func prose(text string) string {
	switch {
	case text == "":
		return ""
	case strings.HasPrefix(text, " "):
		return verbatim(text)
	}
	return ".PP\n" + roff(text) + "\n"
}

// verbatim formats text whose lines must neither be broken nor filled.
func verbatim(text string) string {
	if text = strings.Trim(text, "\n"); text == "" {
		return ""
	}
	return ".PP\n.nf\n" + roff(outdented(text)) + "\n.fi\n"
}

// outdented removes the common indentation of all lines, and indents by two spaces.
func outdented(text string) string {
	least, lines := len(text), strings.Split(text, "\n")
	for _, line := range lines {
		if line != "" {
			least = min(least, len(line)-len(strings.TrimLeft(line, " ")))
		}
	}
	for i, line := range lines {
		if line != "" {
			lines[i] = "  " + line[least:]
		}
	}
	return strings.Join(lines, "\n")
}

// roff escapes text for a formatter of manual pages.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// exitCodes returns the rows of the table in the section "Exit codes".
func exitCodes(document string) (string, error) {
	_, section, _ := strings.Cut(document, "\n## Exit codes\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var out strings.Builder
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 2 || strings.Contains(line, "---") || strings.Contains(line, "Code") {
			continue
		}
		meaning := strings.ReplaceAll(strings.TrimSpace(cells[1]), "`", "")
		fmt.Fprintf(&out, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(cells[0])), roff(meaning))
	}
	if out.Len() == 0 {
		return "", errors.New("docs/operating.md has no table below Exit codes")
	}
	return out.String(), nil
}
