package dev.warmpath.simulator.bench.beside;

import dev.warmpath.simulator.bench.corpus.ExactAnswers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * One other index, by its driver: {@code NAME FILE bulk|interleaved} and {@code NAME-ca FILE mem},
 * the same program with a counting allocator.
 *
 * <p>Immutable.
 *
 * @param finalLine how the line with the queries on the final state begins
 */
public record Peer(String name, Path folder, String finalLine) {

  private static final long LIMIT_MINUTES = 20;

  /** The drivers in {@code peers/bin}. */
  public static List<Peer> in(Path peers) throws PeerException {
    Path folder = peers.resolve("bin");
    List<Peer> found =
        List.of(new Peer("smgidx", folder, "score_into "), new Peer("crtc", folder, "pass 1"));
    for (Peer peer : found) {
      peer.requireProgram(peer.name);
      peer.requireProgram(peer.name + "-ca");
    }
    return found;
  }

  /** Runs all modes on {@code corpus}. */
  PeerFigures run(Path corpus, ExactAnswers answers) throws IOException, InterruptedException {
    PeerOutput bulk = output(name, corpus, "bulk");
    PeerOutput interleaved = output(name, corpus, "interleaved");
    PeerOutput memory = output(name + "-ca", corpus, "mem");
    boolean exact =
        bulk.sums(finalLine).equals(answers.atEnd())
            && interleaved.sums("interleaved:").equals(answers.interleaved());
    return new PeerFigures(
        exact,
        bulk.blocksPerSecond(),
        bulk.blocksPerCpuSecond(),
        bulk.times(finalLine),
        interleaved.times("interleaved:"),
        memory.bytesPerMembership());
  }

  private void requireProgram(String program) throws PeerException {
    Path file = folder.resolve(program);
    if (!Files.isExecutable(file)) {
      throw new PeerException("no program " + file);
    }
  }

  private PeerOutput output(String program, Path corpus, String mode)
      throws IOException, InterruptedException {
    List<String> command = List.of(folder.resolve(program).toString(), corpus.toString(), mode);
    Path printed = Files.createTempFile("warmpath-peer", ".txt");
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(printed.toFile())
              .start();
      awaitEnd(process, String.join(" ", command));
      List<String> lines = Files.readString(printed, StandardCharsets.UTF_8).lines().toList();
      return new PeerOutput(String.join(" ", command), lines);
    } finally {
      Files.delete(printed);
    }
  }

  private static void awaitEnd(Process process, String command)
      throws PeerException, InterruptedException {
    try {
      if (!process.waitFor(LIMIT_MINUTES, TimeUnit.MINUTES)) {
        throw new PeerException(command + ": still running after " + LIMIT_MINUTES + " minutes");
      }
      if (process.exitValue() != 0) {
        throw new PeerException(command + ": exit code " + process.exitValue());
      }
    } finally {
      process.destroyForcibly();
    }
  }
}
