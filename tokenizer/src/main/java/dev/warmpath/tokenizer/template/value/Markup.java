package dev.warmpath.tokenizer.template.value;

/**
 * Text marked as safe HTML. It prints as it is, and what is added to it is escaped; little else is
 * done with it here.
 */
public record Markup(String text) {

  /** Any text made safe. */
  public static Markup escaping(String text) {
    return new Markup(
        text.replace("&", "&amp;")
            .replace(">", "&gt;")
            .replace("<", "&lt;")
            .replace("'", "&#39;")
            .replace("\"", "&#34;"));
  }
}
