package dev.warmpath.simulator.bench.generate;

/** The workloads that are made here rather than read from a file. Immutable. */
public enum Cell {
  /** Chats on a large fleet. */
  B,
  /** Chats on an index that holds 16 million other memberships. */
  C,
  /** Chats on engines that call the same blocks by different engine hashes. */
  D,
  /** Chats on engines that lose one block in fifty, anywhere in a prompt. */
  E,
  /** Bursts of prompts that share a long prefix. */
  F,
  /** Chats on engines of a hybrid model: full attention and a sliding window. */
  G
}
