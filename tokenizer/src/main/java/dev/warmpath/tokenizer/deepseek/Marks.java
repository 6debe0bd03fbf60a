package dev.warmpath.tokenizer.deepseek;

/** The special tokens of the prompts, as text. */
final class Marks {
  static final String BEGIN = "<｜begin▁of▁sentence｜>";
  static final String END = "<｜end▁of▁sentence｜>";
  static final String USER = "<｜User｜>";
  static final String ASSISTANT = "<｜Assistant｜>";
  static final String REMINDER = "<｜latest_reminder｜>";
  static final String THINK = "<think>";
  static final String END_THINK = "</think>";

  private Marks() {}
}
