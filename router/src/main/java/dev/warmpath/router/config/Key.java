package dev.warmpath.router.config;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A key of the configuration, on the record component that holds its value. The key's name is the
 * component's in kebab case, its type the component's, and its meaning its row of {@code
 * docs/configuration.md}, whose other cells a test compares with this. On a section: what holds for
 * all of its keys, which is {@link #advanced} or {@link #reloadable}.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Key {

  /** The value when none is given, as text; empty: the key may be absent. */
  String defaultValue() default "";

  /** Whether it must be given. */
  boolean required() default false;

  /** The least number. */
  double min() default 0;

  /** The greatest number, which each key of a number has. */
  double max() default Double.NaN;

  /** The texts that it may be; empty: any. */
  String[] choices() default {};

  /** Whether most operators leave it at its default. */
  boolean advanced() default false;

  /**
   * Whether a reload changes it while the process runs. Whoever uses its value reads it anew each
   * time.
   */
  boolean reloadable() default false;

  /**
   * Whether nobody else should read it: it is never shown, and {@code KEY-file} may name a file
   * that holds it instead. It has no default.
   */
  boolean secret() default false;

  /** Whether it is a path of this machine, which only the configuration may hold. */
  boolean namesFile() default false;
}
