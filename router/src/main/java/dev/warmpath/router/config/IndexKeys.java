package dev.warmpath.router.config;

import static dev.warmpath.router.config.ConfigKey.bool;
import static dev.warmpath.router.config.ConfigKey.integer;
import static dev.warmpath.router.config.ConfigKey.text;

import java.util.List;

/** Keys of the index, of the events that fill it and of its snapshots. */
final class IndexKeys {

  private static final long DAY_MS = 86_400_000;

  static final List<ConfigKey> ALL =
      List.of(
          integer(
              "index.expected-ttl-ms",
              30_000,
              100,
              DAY_MS,
              "How long blocks of a dispatched prompt are expected before events confirm them."),
          integer(
              "index.expected-settle-ms",
              2_000,
              0,
              DAY_MS,
              "How long they are expected after their request has ended well."),
          integer(
              "index.expected-blocks",
              65_536,
              1,
              100_000_000,
              "Most blocks of one engine that are expected at a time."),
          integer(
              "index.orphan-blocks",
              65_536,
              0,
              100_000_000,
              "Most blocks of one engine that wait for an unknown parent."),
          integer(
              "index.memory-mb",
              0,
              0,
              1_000_000,
              "Most MiB that the index takes; 0: half of the Java heap."),
          integer(
              "ingest.pollers",
              0,
              0,
              64,
              "Threads that poll the engines' event sockets; 0: one for four cores."),
          integer(
              "ingest.ring-messages",
              4_096,
              2,
              1_000_000,
              "Messages of one engine that may wait for the index; beyond, they count as lost and are asked for again."),
          integer(
              "ingest.ring-bytes",
              16 << 20,
              1 << 20,
              1 << 30,
              "Most bytes of one engine's messages that wait for the index, and of one message: a larger one counts as lost."),
          integer(
              "ingest.ring-total-mb",
              256,
              1,
              1_000_000,
              "MiB that may wait of all engines; one below its share waits all the same."),
          integer(
              "ingest.buffered-batches",
              16_384,
              1,
              1_000_000,
              "Live batches of one engine kept while a replay runs."),
          integer("ingest.buffered-bytes", 64 << 20, 1_024, 1 << 30, "Their payloads together."),
          integer("ingest.parallel-replays", 8, 1, 256, "Replays that run at the same time."),
          integer(
              "ingest.replay-idle-ms",
              2_000,
              10,
              DAY_MS,
              "Longest silence of an engine in a replay."),
          integer(
              "ingest.replay-total-ms",
              60_000,
              100,
              DAY_MS,
              "Longest time that one replay may take."),
          integer(
              "ingest.replay-batches", 1_000_000, 1, 1_000_000_000, "Most batches of one replay."),
          integer("ingest.replay-mb", 4_096, 1, 1_000_000, "Most MiB of one replay."),
          integer(
              "ingest.replay-attempts",
              3,
              1,
              100,
              "Replays without progress until what is missing is given up."),
          integer(
              "ingest.replay-backoff-ms",
              250,
              0,
              60_000,
              "Longest wait after the first of them; four times as long after each more."),
          integer("ingest.replay-backoff-limit-ms", 8_000, 0, DAY_MS, "Longest wait after any."),
          integer(
              "ingest.replay-rest-ms",
              30_000,
              100,
              DAY_MS,
              "Time after giving up in which the engine is not asked."),
          integer(
              "ingest.probe-ms",
              30_000,
              100,
              DAY_MS,
              "Silence of an engine after which it is asked whether anything was missed."),
          bool(
              "snapshot.enabled", true, "Keep what is known on the local disk for the next start."),
          text(
              "snapshot.dir",
              null,
              "Its directory; default: `$XDG_STATE_HOME/warmpath`, else `~/.warmpath/data`."),
          integer("snapshot.interval-ms", 300_000, 100, DAY_MS, "Time between two snapshots."),
          integer(
              "snapshot.max-pause-ms",
              2_000,
              1,
              60_000,
              "Longest time that events wait for a snapshot; then it is given up."),
          integer("snapshot.max-mb", 4_096, 1, 1_000_000, "Most MiB that a snapshot takes."),
          integer("snapshot.max-age-ms", 3_600_000, 1, DAY_MS, "An older one is refused."));

  private IndexKeys() {}
}
