package dev.warmpath.lab.index;

/**
 * The workloads that are made here rather than read from a file, by the letters that users know.
 */
enum SyntheticCell {
  /** Chats on many engines. */
  LARGE_FLEET('B'),
  /** Chats on an index that holds 16 million other memberships. */
  BALLAST('C'),
  /** Chats on engines that call the same blocks by different engine hashes. */
  OWN_HASHES('D'),
  /** Chats on engines that lose one block in fifty, anywhere in a prompt. */
  HOLES('E'),
  /** Bursts of prompts that share a long prefix. */
  BURSTS('F'),
  /** Chats on engines of a hybrid model: full attention and a sliding window. */
  HYBRID('G');

  private final char letter;

  SyntheticCell(char letter) {
    this.letter = letter;
  }

  @Override
  public String toString() {
    return String.valueOf(letter);
  }
}
