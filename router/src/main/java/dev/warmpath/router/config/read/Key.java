package dev.warmpath.router.config.read;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A key of the configuration, on the record component that holds its value. The key's name is the
 * component's in kebab case, its type the component's.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Key {

  /**
   * Its row of the documentation: {@code default | bounds | meaning}. A default may be empty (the
   * key may be absent) or {@code required}. Bounds are {@code minimum … maximum} of a number and
   * the comma-separated choices of a text.
   */
  String value();
}
