package dev.warmpath.router.config;

import java.lang.reflect.RecordComponent;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Compares configurations. */
public final class ConfigChanges {

  private ConfigChanges() {}

  /** The names of the keys in which two records of one type differ. */
  public static Set<String> keys(Record before, Record after) {
    Set<String> keys = new LinkedHashSet<>();
    for (RecordComponent component : before.getClass().getRecordComponents()) {
      if (!Objects.equals(value(before, component), value(after, component))) {
        keys.add(ConfigKey.name(component));
      }
    }
    return keys;
  }

  private static @Nullable Object value(Record record, RecordComponent component) {
    try {
      return component.getAccessor().invoke(record);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("component=" + component, e);
    }
  }
}
