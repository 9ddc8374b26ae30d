package main

// A target is a system and a machine that pushbox is built for.
type target struct {
	goos, goarch string
	arm          string // GOARM
	deb, rpm     string // the names of the machine in packages; empty: no packages are made
}

// allTargets are the targets of a release.
func allTargets() []target {
	return []target{
		{goos: "linux", goarch: "amd64", deb: "amd64", rpm: "x86_64"},
		{goos: "linux", goarch: "arm64", deb: "arm64", rpm: "aarch64"},
		{goos: "linux", goarch: "arm", arm: "7", deb: "armhf", rpm: "armv7hl"},
		{goos: "linux", goarch: "riscv64", deb: "riscv64", rpm: "riscv64"},
		{goos: "darwin", goarch: "amd64"},
		{goos: "darwin", goarch: "arm64"},
		{goos: "freebsd", goarch: "amd64"},
		{goos: "windows", goarch: "amd64"},
	}
}

// String is the target as an argument names it.
func (t target) String() string { return t.goos + "/" + t.machine() }

func (t target) machine() string {
	if t.arm != "" {
		return t.goarch + "v" + t.arm
	}
	return t.goarch
}

// program is the name of the program on the target.
func (t target) program() string {
	if t.goos == "windows" {
		return "pushbox.exe"
	}
	return "pushbox"
}

// label is the target in file names.
func (t target) label() string { return t.goos + "-" + t.machine() }

// inImage reports whether the container image has this target.
func (t target) inImage() bool {
	return t.goos == "linux" && (t.goarch == "amd64" || t.goarch == "arm64")
}

// environ is the environment of the compiler. It sets every variable that alters the
// compiled code, so that the user's own settings do not.
func (t target) environ() []string {
	return []string{
		"GOOS=" + t.goos, "GOARCH=" + t.goarch, "GOARM=" + t.arm, "CGO_ENABLED=0",
		"GOAMD64=v1", "GOARM64=v8.0", "GORISCV64=rva20u64", "GOFIPS140=off", "GOEXPERIMENT=",
		"GOFLAGS=-mod=readonly", "GOWORK=off",
	}
}
