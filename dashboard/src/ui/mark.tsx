/** The product's mark: a point that is held between two posts. */
export function Mark({ className = "size-6" }: { readonly className?: string }) {
  return (
    <svg viewBox="0 0 32 32" className={`shrink-0 ${className}`} aria-hidden="true" focusable="false">
      <rect x="3" y="4" width="6" height="24" rx="2" className="fill-ink" />
      <rect x="23" y="4" width="6" height="24" rx="2" className="fill-ink" />
      <circle cx="16" cy="16" r="4.5" className="fill-hold" />
    </svg>
  );
}
