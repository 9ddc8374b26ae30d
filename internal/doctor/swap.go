package doctor

import (
	"context"
	"os"
	"strings"
)

// swaps is where Linux tells what it swaps to.
const swaps = "/proc/swaps"

func checkSwap(context.Context, *Subject) []Finding {
	text, err := os.ReadFile(swaps)
	if err != nil {
		return one(skipped("this system does not tell"))
	}
	return one(judgeSwap(string(text)))
}

// judgeSwap looks at the lines below the head: a name, a kind and sizes. zram is
// memory itself.
func judgeSwap(text string) Finding {
	var disks []string
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if name, _, _ := strings.Cut(line, " "); i > 0 && !strings.HasPrefix(name, "/dev/zram") && name != "" {
			disks = append(disks, name)
		}
	}
	if len(disks) == 0 {
		return fine("memory is not written to a disk")
	}
	return warning("encrypt it, or keep the server out of it with MemorySwapMax=0 in its systemd unit", "memory, and with it secrets, may be written to %s", strings.Join(disks, ", "))
}
