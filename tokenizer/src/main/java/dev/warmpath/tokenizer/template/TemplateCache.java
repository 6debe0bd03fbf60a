package dev.warmpath.tokenizer.template;

import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.TemplateLimits;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The templates that requests brought along most recently, ready to render. Long ones are parsed
 * anew each time, so that few requests cannot hold much memory.
 *
 * <p>Thread-safe.
 */
public final class TemplateCache {
  private static final int MAX_TEMPLATES = 64;
  private static final int MAX_CHARS = 1 << 16;

  private final Clock clock;
  private final TemplateLimits limits;
  private final Map<String, ChatTemplate> recent = new LinkedHashMap<>(16, 0.75f, true);

  /** An empty cache; its templates have this clock and these limits. */
  public TemplateCache(Clock clock, TemplateLimits limits) {
    this.clock = clock;
    this.limits = limits;
  }

  /**
   * The template with this source.
   *
   * @throws TemplateException of kind SYNTAX when Jinja2 would not compile it either
   */
  public ChatTemplate of(String source) {
    synchronized (recent) {
      ChatTemplate known = recent.get(source);
      if (known != null) {
        return known;
      }
    }
    ChatTemplate parsed = ChatTemplate.parse(source, clock, limits);
    if (source.length() <= MAX_CHARS) {
      keep(source, parsed);
    }
    return parsed;
  }

  private void keep(String source, ChatTemplate parsed) {
    synchronized (recent) {
      recent.put(source, parsed);
      if (recent.size() > MAX_TEMPLATES) {
        recent.remove(recent.keySet().iterator().next());
      }
    }
  }

  int size() {
    synchronized (recent) {
      return recent.size();
    }
  }
}
